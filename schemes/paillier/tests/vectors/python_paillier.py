#!/usr/bin/env python3
"""Writes phe.json: a key, encodings and ciphertexts of python-paillier.

`pip install phe`, then `python3 python_paillier.py`. Keys and ciphertexts are random, so that every run writes another file.
"""

import json
import math
from pathlib import Path

import phe
from phe.util import int_to_base64

VALUES = [0.0, 1.0, -1.0, 0.1, -0.1, 1.5, 3, -3, 0, 2**40, -(2**70), 123456.789, -1e12, 1e-9, 1e300, -1e-300, math.pi,
          5e-324, 9007199254740993.0, 255.99999999999997]

public, private = phe.generate_paillier_keypair(n_length=1024)
name = "made by python_paillier.py"
public_json = {"kty": "DAJ", "alg": "PAI-GN1", "key_ops": ["encrypt"], "n": int_to_base64(public.n), "kid": name}
private_json = {"kty": "DAJ", "key_ops": ["decrypt"], "p": int_to_base64(private.p), "q": int_to_base64(private.q),
                "pub": public_json, "kid": name}
numbers = []
for value in VALUES:
    encoded = phe.EncodedNumber.encode(public, value)
    encrypted = public.encrypt(encoded)
    numbers.append({"value": repr(float(value)), "is_integer": isinstance(value, int), "exponent": encoded.exponent,
                    "encoding": f"{encoded.encoding:x}", "ciphertext": f"{encrypted.ciphertext():x}"})
a, b = public.encrypt(2.5), public.encrypt(-1000)
results = [(a + b, "2.5 - 1000"), (a * -4, "2.5 * -4"), (b * 0.5 + 3, "-1000 * 0.5 + 3")]
results = [{"what": what, "value": repr(float(private.decrypt(x))), "exponent": x.exponent, "ciphertext": f"{x.ciphertext():x}"}
           for x, what in results]
text = json.dumps({"public": public_json, "private": private_json, "numbers": numbers, "results": results}, indent=1)
Path(__file__).with_name("phe.json").write_text(text + "\n")
