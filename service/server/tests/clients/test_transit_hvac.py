"""The transit door with hvac, the Python client of Vault."""

import base64
import os

import hvac
import pytest
from cryptography.hazmat.primitives import hashes, keywrap, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture(scope="module")
def client(service):
    token = service.credential("vault", "--allow", "transit")["token"]
    return hvac.Client(url=service.url, token=token)


@pytest.fixture
def transit(client):
    return client.secrets.transit


@pytest.fixture
def name(transit):
    """The name of a new key that may be exported."""
    name = "hvac-" + os.urandom(4).hex()
    transit.create_key(name=name, key_type="rsa-2048", exportable=True)
    return name


@pytest.fixture
def public(transit, name):
    keys = transit.read_key(name=name)["data"]["keys"]
    return serialization.load_pem_public_key(keys["1"]["public_key"].encode())


def test_tokens_and_the_state_of_the_server(service, client):
    assert client.is_authenticated()
    assert client.sys.is_initialized() and not client.sys.is_sealed()
    assert client.sys.read_health_status(method="GET")["initialized"]
    stranger = hvac.Client(url=service.url, token="wrong")
    assert not stranger.is_authenticated()
    with pytest.raises(hvac.exceptions.Forbidden):
        stranger.secrets.transit.list_keys()


def test_keys_are_listed_and_others_refused(transit, name):
    assert name in transit.list_keys()["data"]["keys"]
    with pytest.raises(hvac.exceptions.InvalidRequest):
        transit.create_key(name="other", key_type="ed25519")
    with pytest.raises(hvac.exceptions.InvalidPath):
        transit.read_key(name="no-such-key")


@pytest.mark.parametrize(
    "algorithm, hash_name, hash",
    [
        ("pss", "sha2-256", hashes.SHA256()),
        ("pss", "sha2-512", hashes.SHA512()),
        ("pkcs1v15", "sha2-384", hashes.SHA384()),
    ],
)
def test_signatures_verify_elsewhere(transit, name, public, algorithm, hash_name, hash):
    message = b"a message"
    options = {"hash_algorithm": hash_name, "signature_algorithm": algorithm}
    signature = transit.sign_data(name=name, hash_input=b64(message), **options)["data"]["signature"]
    scheme = padding.PKCS1v15()
    if algorithm == "pss":
        scheme = padding.PSS(padding.MGF1(hash), padding.PSS.MAX_LENGTH)
    public.verify(base64.b64decode(signature.split(":")[2]), message, scheme, hash)
    for text, valid in [(message, True), (b"another", False)]:
        verdict = transit.verify_signed_data(name=name, hash_input=b64(text), signature=signature, **options)
        assert verdict["data"]["valid"] is valid


def test_signatures_for_web_tokens(client, transit, name, public):
    options = {"hash_algorithm": "sha2-256", "signature_algorithm": "pkcs1v15", "marshaling_algorithm": "jws"}
    signature = transit.sign_data(name=name, hash_input=b64(b"header.payload"), **options)["data"]["signature"]
    text = signature.split(":")[2]
    assert "=" not in text
    public.verify(base64.urlsafe_b64decode(text + "=="), b"header.payload", padding.PKCS1v15(), hashes.SHA256())
    verify = dict(name=name, hash_input=b64(b"header.payload"), signature=signature)
    assert transit.verify_signed_data(**verify, **options)["data"]["valid"]
    with pytest.raises(hvac.exceptions.InvalidRequest, match='invalid marshaling type "bogus"'):
        client.write_data(f"transit/sign/{name}", data={"input": "", "marshaling_algorithm": "bogus"})


@pytest.mark.parametrize("salt, length", [("-1", 32), ("hash", 32), ("0", None), ("auto", None), ("20", 20)])
def test_lengths_of_salts(transit, name, public, salt, length):
    options = {"hash_algorithm": "sha2-256", "signature_algorithm": "pss", "salt_length": salt}
    signature = transit.sign_data(name=name, hash_input=b64(b"m"), **options)["data"]["signature"]
    scheme = padding.PSS(padding.MGF1(hashes.SHA256()), length or padding.PSS.MAX_LENGTH)
    public.verify(base64.b64decode(signature.split(":")[2]), b"m", scheme, hashes.SHA256())
    for other in [salt, "0"]:
        options["salt_length"] = other
        verdict = transit.verify_signed_data(name=name, hash_input=b64(b"m"), signature=signature, **options)
        assert verdict["data"]["valid"]


def test_what_clients_ask_besides(service, client):
    renewed = client.auth.token.renew_self()
    assert renewed["auth"]["renewable"] is False and renewed["auth"]["client_token"] == client.token
    allowed = client.sys.get_capabilities(paths=["transit/sign/k", "secret/x"])["data"]
    assert "update" in allowed["transit/sign/k"] and allowed["secret/x"] == ["deny"]
    assert client.read("sys/mounts/transit")["data"]["type"] == "transit"
    elsewhere = hvac.Client(url=service.url, token=client.token, namespace="team")
    with pytest.raises(hvac.exceptions.InvalidRequest, match="namespaces are not supported"):
        elsewhere.secrets.transit.list_keys()


def test_batches_with_a_wrong_item(client, name, public):
    items = [{"input": b64(b"%d" % item), "reference": str(item)} for item in range(1000)]
    items.insert(500, {"input": "*"})
    results = client.write_data(f"transit/sign/{name}", data={"batch_input": items})["data"]["batch_results"]
    wrong = results.pop(500)
    assert "signature" not in wrong and "base64" in wrong["error"]
    assert [result["reference"] for result in results] == [str(item) for item in range(1000)]
    scheme = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.MAX_LENGTH)
    for item, result in enumerate(results):
        public.verify(base64.b64decode(result["signature"].split(":")[2]), b"%d" % item, scheme, hashes.SHA256())


def test_encryption_rotation_and_export(client, transit, name, public):
    message = b"a secret"
    sealed = transit.encrypt_data(name=name, plaintext=b64(message))["data"]["ciphertext"]
    assert transit.decrypt_data(name=name, ciphertext=sealed)["data"]["plaintext"] == b64(message)
    own = public.encrypt(message, padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None))
    both = [{"ciphertext": f"vault:v1:{b64(own)}"}, {"ciphertext": sealed}]
    batch = transit.decrypt_data(name=name, ciphertext="", batch_input=both)
    assert [result["plaintext"] for result in batch["data"]["batch_results"]] == [b64(message)] * 2

    transit.rotate_key(name=name)
    assert transit.rewrap_data(name=name, ciphertext=sealed)["data"]["ciphertext"].startswith("vault:v2:")
    # hvac's own function for this wants a larger min_encryption_version than Vault does.
    versions = {"min_decryption_version": 2, "min_encryption_version": 2, "deletion_allowed": True}
    client.write_data(f"transit/keys/{name}/config", data=versions)
    with pytest.raises(hvac.exceptions.InvalidRequest):
        transit.decrypt_data(name=name, ciphertext=sealed)
    transit.trim_key(name=name, min_version=2)
    exported = transit.export_key(name=name, key_type="signing-key")["data"]["keys"]
    assert list(exported) == ["2"]
    serialization.load_pem_private_key(exported["2"].encode(), None)
    transit.delete_key(name=name)
    with pytest.raises(hvac.exceptions.InvalidPath):
        transit.read_key(name=name)


def test_a_key_made_elsewhere_is_imported(client, transit):
    wrapping = client.read("transit/wrapping_key")["data"]["public_key"]
    wrapping = serialization.load_pem_public_key(wrapping.encode())
    key = rsa.generate_private_key(65537, 2048)
    der = key.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    aes = os.urandom(32)
    blob = wrapping.encrypt(aes, padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None))
    blob += keywrap.aes_key_wrap_with_padding(aes, der)
    client.write_data("transit/keys/imported/import", data={"type": "rsa-2048", "ciphertext": b64(blob)})
    signature = transit.sign_data(name="imported", hash_input=b64(b"m"))["data"]["signature"]
    scheme = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.MAX_LENGTH)
    key.public_key().verify(base64.b64decode(signature.split(":")[2]), b"m", scheme, hashes.SHA256())


def test_random_bytes_and_hashes(transit):
    assert len(base64.b64decode(transit.generate_random_bytes(n_bytes=20)["data"]["random_bytes"])) == 20
    assert transit.hash_data(hash_input=b64(b"abc"), algorithm="sha2-256")["data"]["sum"].startswith("ba7816bf")
