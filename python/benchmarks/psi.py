"""Items a second of private set intersection on one core, compared with OpenMined's PSI, which uses elliptic curves.

    python benchmarks/psi.py [--items 4000] [--rounds 3]

Both do the same four steps on sets of the same size, in turns, so that a machine that is busy at times is busy for both: the
sender prepares its set, the receiver its own, the sender answers, the receiver finds the common items. A rate is that of the
best turn, by the processor's time. Both answers are checked. Needs openmined-psi.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import private_set_intersection.python as openmined

import modmill
from modmill import psi

ENGINE = modmill.Engine(backend="cpu", threads=1)

Steps = dict[str, tuple[float, int]]
"""For each step its seconds, and the bytes that it sends."""


def timed(work: Callable[[], object]) -> tuple[object, float]:
    start = time.process_time()
    answer = work()
    return answer, time.process_time() - start


def modmill_steps(group: str, hers: list[bytes], his: list[bytes], common: list[int]) -> Steps:
    receiver, sender = psi.Party(group), psi.Party(group)
    sent, setup = timed(lambda: sender.blind(his, engine=ENGINE))
    asked, request = timed(lambda: receiver.blind(hers, engine=ENGINE))
    tags, answer = timed(lambda: sender.tags(sender.blind_again(asked, engine=ENGINE)))
    found, intersect = timed(
        lambda: psi.intersect(tags, receiver.tags(receiver.blind_again(sent, engine=ENGINE)))
    )
    assert found == common
    size = lambda column: sum(map(len, column))  # noqa: E731
    return {
        "setup": (setup, size(sent)),
        "request": (request, size(asked)),
        "answer": (answer, size(tags)),
        "intersect": (intersect, 0),
    }


def openmined_steps(hers: list[bytes], his: list[bytes], common: list[int]) -> Steps:
    texts = [[item.decode() for item in items] for items in (hers, his)]
    server = openmined.server.CreateWithNewKey(True)
    client = openmined.client.CreateWithNewKey(True)
    # Raw encodes every element, as modmill's messages do; the probability of a wrong answer is the least it takes.
    sent, setup = timed(
        lambda: server.CreateSetupMessage(1e-9, len(hers), texts[1], openmined.DataStructure.RAW)
    )
    asked, request = timed(lambda: client.CreateRequest(texts[0]))
    answered, answer = timed(lambda: server.ProcessRequest(asked))
    found, intersect = timed(lambda: client.GetIntersection(sent, answered))
    assert sorted(found) == common
    size = lambda message: len(message.SerializeToString())  # noqa: E731
    return {
        "setup": (setup, size(sent)),
        "request": (request, size(asked)),
        "answer": (answer, size(answered)),
        "intersect": (intersect, 0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    item = "customer-{}@example.org".format
    hers = [item(n).encode() for n in range(options.items)]
    his = [item(n).encode() for n in range(options.items // 2, options.items * 3 // 2)]
    common = list(range(options.items // 2, options.items))
    ways = {
        "modmill, ffdhe2048": lambda: modmill_steps("ffdhe2048", hers, his, common),
        "modmill, ffdhe3072": lambda: modmill_steps("ffdhe3072", hers, his, common),
        "openmined": lambda: openmined_steps(hers, his, common),
    }
    best: dict[str, Steps] = {}
    for _ in range(options.rounds):
        for name, way in ways.items():
            steps = way()
            before = best.setdefault(name, steps)
            best[name] = {step: min(before[step], steps[step]) for step in steps}
    print(f"{options.items} items on each side; items a second of one core, and bytes an item")
    for name, steps in best.items():
        rates = "  ".join(f"{step} {options.items / seconds:7.0f}" for step, (seconds, _) in steps.items())
        octets = sum(octets for _, octets in steps.values()) / options.items
        print(f"{name:20} {rates}  bytes {octets:5.0f}")


if __name__ == "__main__":
    main()
