#!/usr/bin/env python3
"""Random requests that botocore's own signer signed, as JSON on standard output.

    pip install botocore
    python3 sigv4_requests.py 500 > requests.json
    MODMILL_BOTOCORE_REQUESTS=requests.json cargo test -p modmill-server --test sigv4

The test verifies every one, and that none verifies once something in it has changed.
"""
import base64
import json
import random
import sys
from urllib.parse import quote

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

ACCESS_KEY, SECRET = "AKIABOTOCORE", "a secret/with+characters="
REGION, SERVICE = "us-east-1", "kms"


def word(rng, alphabet, most):
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(1, most)))


def url(rng):
    text = "abcXYZ019-_.~ é%/+&=:,"
    path = "/" + "/".join(quote(word(rng, text, 8), safe="-_.~") for _ in range(rng.randint(0, 3)))
    pairs = [(word(rng, text, 6), word(rng, text, 6) if rng.random() < 0.8 else "") for _ in range(rng.randint(0, 4))]
    query = "&".join(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in pairs)
    host = rng.choice(["localhost", "localhost:8443", "kms.us-east-1.amazonaws.com", "127.0.0.1:4566"])
    return f"http://{host}{path}" + (f"?{query}" if query else "")


def headers(rng):
    found = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "TrentService.Sign"}
    for _ in range(rng.randint(0, 4)):
        name = word(rng, "abcdefgh", 6).title() + "-" + word(rng, "xyz", 3)
        found[name] = word(rng, "abc  ,;=\"'%", 12).strip() or "v"
    if rng.random() < 0.5:
        found["X-Amz-User-Agent"] = "client/1.0   with   spaces"
    return found


def signed(rng):
    body = rng.randbytes(rng.choice([0, 1, 17, 300, 5000]))
    request = AWSRequest(rng.choice(["POST", "POST", "GET", "PUT"]), url(rng), headers(rng), body)
    SigV4Auth(Credentials(ACCESS_KEY, SECRET), SERVICE, REGION).add_auth(request)
    prepared = request.prepare()
    rest = prepared.url.split("://", 1)[1]
    host, _, target = rest.partition("/")
    text = lambda value: value.decode() if isinstance(value, bytes) else str(value)
    found = {name: text(value) for name, value in prepared.headers.items()}
    found.setdefault("Host", host)
    return {"method": prepared.method, "target": "/" + target, "headers": found, "body": base64.b64encode(body).decode()}


def main():
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    requests = [signed(rng) for _ in range(int(sys.argv[1]))]
    json.dump({"access_key_id": ACCESS_KEY, "secret_access_key": SECRET, "region": REGION, "service": SERVICE,
               "requests": requests}, sys.stdout)


main()
