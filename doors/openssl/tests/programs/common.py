"""The parts that the tests of programs share."""

import os
import sys

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."


def path(name):
    return os.path.join(FOLDER, name)


def environment():
    """The environment in which OpenSSL uses the provider and tells about its batches."""
    return {**os.environ, "OPENSSL_CONF": path("modmill.cnf"), "MODMILL_STATISTICS": path("statistics")}


def again_with_provider():
    """Starts this program again with the provider: OpenSSL reads its configuration when it is loaded."""
    if os.environ.get("OPENSSL_CONF") != path("modmill.cnf"):
        os.execve(sys.executable, [sys.executable, *sys.argv], environment())


def statistics():
    """The operations and batches of all processes that have ended since the last call."""
    try:
        with open(path("statistics")) as file:
            text = file.read()
        os.remove(path("statistics"))
    except FileNotFoundError:
        return 0, 0
    figures = [dict(part.split("=") for part in line.split()) for line in text.splitlines()]
    return sum(int(line["operations"]) for line in figures), sum(int(line["batches"]) for line in figures)


def left_out(reason):
    print(f"LEFT OUT: {reason}")
    sys.exit(77)
