"""A round of NVFlare's secure vertical XGBoost between two clients, with modmill instead of IPCL.

    python tests/nvflare_round.py [--samples 1000] [--features 4] [--bins 16] [--bits 1024] [--workers 2]

NVFlare's own handler of a client does everything: it makes the keys, encrypts the gradients of the label client, sums them up for the
other client without reading them, and decrypts the histograms. This program takes the part of XGBoost and of the server: it hands over the
buffers, and compares the histograms with sums in the clear. It needs nvflare, xgboost, tensorboard, modmill and modmill-ipcl.
"""

from __future__ import annotations

import argparse
import logging
import random
import time
from typing import Any

import ipcl_python
import nvflare.app_opt.xgboost.histogram_based_v2.sec.client_handler as plugin
import xgboost
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.app_opt.xgboost.histogram_based_v2.defs import Constant
from nvflare.app_opt.xgboost.histogram_based_v2.sec.dam import DamDecoder, DamEncoder
from nvflare.app_opt.xgboost.histogram_based_v2.sec.partial_he.util import combine, split
from nvflare.app_opt.xgboost.histogram_based_v2.sec.processor_data_converter import (
    DATA_SET_AGGREGATION,
    DATA_SET_AGGREGATION_WITH_FEATURES,
    DATA_SET_GH_PAIRS,
    ProcessorDataConverter,
)

LABEL, OTHER = 0, 1


def event(handler: Any, name: str, **properties: Any) -> FLContext:
    """Fires an event of NVFlare at a client, with properties of the context, and returns the context."""
    context = FLContext()
    for key, value in properties.items():
        context.set_prop(key=getattr(Constant, f"PARAM_KEY_{key}"), value=value, private=True, sticky=False)
    handler.handle_event(name, context)
    error = context.get_prop(FLContextKey.FATAL_SYSTEM_ERROR)
    assert error is None, error
    return context


def reply(**headers: Any) -> Shareable:
    """The server's reply with headers."""
    shareable = Shareable()
    for key, value in headers.items():
        shareable.set_header(getattr(Constant, f"HEADER_KEY_{key}"), value)
    return shareable


def client(bits: int, workers: int) -> Any:
    """A client that was configured for secure vertical training."""
    handler = plugin.ClientSecurityHandler(key_length=bits, num_workers=workers)
    context = FLContext()
    data = {Constant.CONF_KEY_DATA_SPLIT_MODE: xgboost.core.DataSplitMode.COL, Constant.CONF_KEY_SECURE_TRAINING: True}
    context.set_prop(FLContextKey.TASK_DATA, {**data, Constant.CONF_KEY_DISABLE_VERSION_CHECK: True}, private=True)
    handler.handle_event(Constant.EVENT_XGB_JOB_CONFIGURED, context)
    return handler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--features", type=int, default=4)
    parser.add_argument("--bins", type=int, default=16)
    parser.add_argument("--bits", type=int, default=1024)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    logging.disable(logging.INFO)
    assert plugin.ipcl_imported and ipcl_python.PaillierKeypair.__module__ == "modmill.ipcl"

    rng = random.Random(7)
    gradients = [(rng.uniform(-1, 1), rng.uniform(0, 1)) for _ in range(arguments.samples)]
    slots = [
        [feature * arguments.bins + rng.randrange(arguments.bins) for feature in range(arguments.features)] for _ in gradients
    ]
    groups = {0: list(range(0, arguments.samples, 2)), 1: list(range(1, arguments.samples, 2))}

    pairs = DamEncoder(DATA_SET_GH_PAIRS)
    pairs.add_float_array([number for pair in gradients for number in pair])
    wanted = DamEncoder(DATA_SET_AGGREGATION_WITH_FEATURES)
    wanted.add_int_array([feature * arguments.bins for feature in range(arguments.features + 1)])
    wanted.add_int_array(list(range(arguments.features)))
    wanted.add_int_array([slot for row in slots for slot in row])
    wanted.add_int_array(list(groups))
    for rows in groups.values():
        wanted.add_int_array(rows)
    nothing = DamEncoder(DATA_SET_AGGREGATION)
    nothing.add_int_array([0])
    nothing.add_int_array([])

    label, other = client(arguments.bits, arguments.workers), client(arguments.bits, arguments.workers)
    start = time.perf_counter()
    # The label client encrypts its gradients, and the other client gets them.
    sent = event(label, Constant.EVENT_BEFORE_BROADCAST, ROOT=LABEL, RANK=LABEL, SEND_BUF=pairs.finish())
    encrypted = sent.get_prop(Constant.PARAM_KEY_SEND_BUF)
    assert isinstance(encrypted, str) and '"nums"' in encrypted
    head = reply(ENCRYPTED_DATA=True, ORIGINAL_BUF_SIZE=64)
    event(other, Constant.EVENT_AFTER_BROADCAST, ROOT=LABEL, RANK=OTHER, REPLY=head, RCV_BUF=encrypted)
    # The other client sums them up by the bins of its features.
    sent = event(other, Constant.EVENT_BEFORE_ALL_GATHER_V, RANK=OTHER, SEND_BUF=wanted.finish())
    sums = sent.get_prop(Constant.PARAM_KEY_SEND_BUF)
    # The label client, which has no features of its own here, decrypts the sums.
    event(label, Constant.EVENT_BEFORE_ALL_GATHER_V, RANK=LABEL, SEND_BUF=nothing.finish())
    gathered = event(
        label,
        Constant.EVENT_AFTER_ALL_GATHER_V,
        RANK=LABEL,
        REPLY=reply(ENCRYPTED_DATA=True, SIZE_DICT={LABEL: 1 << 20, OTHER: 1 << 20}),
        RCV_BUF={LABEL: None, OTHER: sums},
    )
    seconds = time.perf_counter() - start

    decoder = DamDecoder(gathered.get_prop(Constant.PARAM_KEY_RCV_BUF))
    whole = [combine(*map(ProcessorDataConverter.float_to_int, pair)) for pair in gradients]
    assert decoder.decode_int_array() == list(groups)
    for rows in groups.values():
        assert decoder.decode_int_array() == list(range(arguments.features))
        for feature in range(arguments.features):
            expected = [0] * arguments.bins
            for row in rows:
                expected[slots[row][feature] % arguments.bins] += whole[row]
            flat = [ProcessorDataConverter.int_to_float(part) for total in expected for part in split(total)]
            assert decoder.decode_float_array() == flat
    additions = arguments.samples * arguments.features
    print(f"NVFlare's histograms of {arguments.samples} samples and {arguments.features} features are right: {additions} additions")
    print(f"{arguments.bits} bits, {arguments.workers} processes, {seconds:.1f} s")


if __name__ == "__main__":
    main()
