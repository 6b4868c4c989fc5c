"""Runs the examples in the package's documentation strings; needs nothing but the package."""

import doctest
import importlib
import pkgutil
import sys

import modmill

NAMES = ["modmill"] + [f"modmill.{module.name}" for module in pkgutil.iter_modules(modmill.__path__)]


def main() -> None:
    run = failed = 0
    for name in NAMES:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("modmill"):
                raise
            print(f"left out: {name} needs {error.name}")
            continue
        results = doctest.testmod(module)
        run, failed = run + results.attempted, failed + results.failed
    print(f"Python {sys.version.split()[0]}: {run} examples, {failed} failed")
    sys.exit(failed > 0 or run == 0)


if __name__ == "__main__":
    main()
