"""The KMS door with boto3."""

import datetime
import hashlib
import subprocess

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from botocore.httpsession import URLLib3Session
from cryptography.hazmat.primitives import hashes, keywrap, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import load_der_public_key

ALGORITHMS = [
    f"{scheme}_SHA_{bits}" for scheme in ("RSASSA_PSS", "RSASSA_PKCS1_V1_5") for bits in (256, 384, 512)
]


def code(call):
    with pytest.raises(ClientError) as raised:
        call()
    return raised.value.response["Error"]["Code"]


@pytest.fixture(scope="module")
def signing_key(kms):
    return kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]


@pytest.fixture(scope="module")
def encryption_key(kms):
    return kms.create_key(KeyUsage="ENCRYPT_DECRYPT", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]


def verify_by_openssl(folder, public, algorithm, message, signature):
    """The openssl program's verdict on a signature."""
    (folder / "public.der").write_bytes(public)
    (folder / "message").write_bytes(message)
    (folder / "signature").write_bytes(signature)
    bits = algorithm.rsplit("_", 1)[1]
    command = ["openssl", "dgst", f"-sha{bits}", "-keyform", "DER", "-verify", folder / "public.der"]
    if "PSS" in algorithm:
        command += ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"]
    command += ["-signature", folder / "signature", folder / "message"]
    return subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.parametrize("spec", ["RSA_2048", "RSA_3072", "RSA_4096"])
def test_openssl_verifies_signatures_of_every_algorithm(kms, tmp_path, spec):
    key = kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec=spec)["KeyMetadata"]
    public = kms.get_public_key(KeyId=key["KeyId"])
    assert sorted(public["SigningAlgorithms"]) == sorted(ALGORITHMS)
    for algorithm in ALGORITHMS:
        message = f"signed with {algorithm}".encode()
        answer = kms.sign(KeyId=key["KeyId"], Message=message, SigningAlgorithm=algorithm)
        assert answer["KeyId"] == key["Arn"]
        assert verify_by_openssl(tmp_path, public["PublicKey"], algorithm, message, answer["Signature"])
        assert not verify_by_openssl(tmp_path, public["PublicKey"], algorithm, b"another", answer["Signature"])
        digest = hashlib.new("sha" + algorithm.rsplit("_", 1)[1], message).digest()
        by_digest = dict(KeyId=key["KeyId"], Message=digest, MessageType="DIGEST", SigningAlgorithm=algorithm)
        assert kms.verify(**by_digest, Signature=kms.sign(**by_digest)["Signature"])["SignatureValid"]
        last = answer["Signature"][-1]
        wrong = dict(by_digest, Signature=answer["Signature"][:-1] + bytes([last ^ 1]))
        assert code(lambda: kms.verify(**wrong)) == "KMSInvalidSignatureException"


def test_lengths_that_clients_do_not_check(kms, signing_key):
    sign = lambda **change: kms.sign(
        **{"KeyId": signing_key, "Message": b"m", "SigningAlgorithm": "RSASSA_PSS_SHA_256", **change}
    )
    assert sign(Message=b"m" * 4096)["Signature"]
    assert code(lambda: sign(Message=b"m" * 4097)) == "ValidationException"
    assert code(lambda: sign(Message=b"m" * 31, MessageType="DIGEST")) == "ValidationException"
    assert code(lambda: sign(SigningAlgorithm="ECDSA_SHA_256")) in ("InvalidKeyUsageException", "ValidationException")
    assert code(lambda: sign(KeyId="alias/nobody")) == "NotFoundException"
    assert code(lambda: sign(DryRun=True)) == "DryRunOperationException"


def test_encryption_with_the_public_key_elsewhere(kms, encryption_key):
    public = load_der_public_key(kms.get_public_key(KeyId=encryption_key)["PublicKey"])
    for name, hash in (("RSAES_OAEP_SHA_1", hashes.SHA1()), ("RSAES_OAEP_SHA_256", hashes.SHA256())):
        oaep = padding.OAEP(padding.MGF1(hash), hash, None)
        ciphertext = public.encrypt(b"a secret", oaep)
        answer = kms.decrypt(KeyId=encryption_key, CiphertextBlob=ciphertext, EncryptionAlgorithm=name)
        assert answer["Plaintext"] == b"a secret"
        ours = kms.encrypt(KeyId=encryption_key, Plaintext=b"another", EncryptionAlgorithm=name)
        decrypt = dict(KeyId=encryption_key, EncryptionAlgorithm=name)
        assert kms.decrypt(CiphertextBlob=ours["CiphertextBlob"], **decrypt)["Plaintext"] == b"another"
        tampered = ours["CiphertextBlob"][:-1] + bytes([ours["CiphertextBlob"][-1] ^ 1])
        for wrong in (tampered, b"\0" * 256, b"short"):
            assert code(lambda: kms.decrypt(CiphertextBlob=wrong, **decrypt)) == "InvalidCiphertextException"
    usage = dict(Message=b"m", SigningAlgorithm="RSASSA_PSS_SHA_256")
    assert code(lambda: kms.sign(KeyId=encryption_key, **usage)) == "InvalidKeyUsageException"


def test_symmetric_keys_and_what_needs_them(kms):
    key = kms.create_key()["KeyMetadata"]["KeyId"]
    context = {"purpose": "test"}
    data = kms.generate_data_key(KeyId=key, KeySpec="AES_256", EncryptionContext=context)
    blob = data["CiphertextBlob"]
    assert len(data["Plaintext"]) == 32
    assert kms.decrypt(CiphertextBlob=blob, EncryptionContext=context)["Plaintext"] == data["Plaintext"]
    assert code(lambda: kms.decrypt(CiphertextBlob=blob)) == "InvalidCiphertextException"
    pair = kms.generate_data_key_pair(KeyId=key, KeyPairSpec="RSA_2048", EncryptionContext=context)
    private = serialization.load_der_private_key(pair["PrivateKeyPlaintext"], None)
    public = load_der_public_key(pair["PublicKey"])
    assert private.public_key() == public
    again = kms.decrypt(CiphertextBlob=pair["PrivateKeyCiphertextBlob"], EncryptionContext=context)
    assert again["Plaintext"] == pair["PrivateKeyPlaintext"]
    assert len(kms.generate_random(NumberOfBytes=77)["Plaintext"]) == 77
    other = kms.create_key()["KeyMetadata"]
    moved = kms.re_encrypt(CiphertextBlob=blob, SourceEncryptionContext=context, DestinationKeyId=other["KeyId"])
    assert moved["KeyId"] == other["Arn"]
    assert kms.decrypt(CiphertextBlob=moved["CiphertextBlob"])["Plaintext"] == data["Plaintext"]


def prepare_import(kms, hash="SHA_256", material=None):
    """A key made elsewhere, a KMS key that waits for it, and the arguments of the import."""
    if material is None:
        material = rsa.generate_private_key(65537, 2048)
    der = material.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    created = kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048", Origin="EXTERNAL")["KeyMetadata"]
    assert created["KeyState"] == "PendingImport"
    parameters = kms.get_parameters_for_import(
        KeyId=created["KeyId"], WrappingAlgorithm=f"RSA_AES_KEY_WRAP_{hash}", WrappingKeySpec="RSA_2048"
    )
    digest = hashes.SHA1() if hash == "SHA_1" else hashes.SHA256()
    wrapping = load_der_public_key(parameters["PublicKey"])
    aes = bytes(range(32))
    wrapped = wrapping.encrypt(aes, padding.OAEP(padding.MGF1(digest), digest, None))
    wrapped += keywrap.aes_key_wrap_with_padding(aes, der)
    give = dict(
        KeyId=created["KeyId"], ImportToken=parameters["ImportToken"], EncryptedKeyMaterial=wrapped,
        ExpirationModel="KEY_MATERIAL_DOES_NOT_EXPIRE",
    )
    return material, created["KeyId"], give


@pytest.mark.parametrize("hash", ["SHA_1", "SHA_256"])
def test_a_key_of_openssl_is_imported(kms, tmp_path, hash):
    made = tmp_path / "made.pem"
    subprocess.run(["openssl", "genrsa", "-out", made, "2048"], check=True, capture_output=True)
    private = serialization.load_pem_private_key(made.read_bytes(), None)
    _, key, give = prepare_import(kms, hash, private)
    wrapped = give["EncryptedKeyMaterial"]
    broken = dict(give, EncryptedKeyMaterial=wrapped[:-1] + bytes([wrapped[-1] ^ 1]))
    refused = code(lambda: kms.import_key_material(**broken))
    assert refused in ("InvalidCiphertextException", "IncorrectKeyMaterialException")
    kms.import_key_material(**give)
    message = dict(KeyId=key, Message=b"m", SigningAlgorithm="RSASSA_PKCS1_V1_5_SHA_256")
    assert kms.sign(**message)["Signature"] == private.sign(b"m", padding.PKCS1v15(), hashes.SHA256())
    kms.delete_imported_key_material(KeyId=key)
    assert code(lambda: kms.sign(**message)) == "KMSInvalidStateException"


def test_aliases_tags_and_states(kms):
    key = kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048", Tags=[{"TagKey": "a", "TagValue": "1"}])["KeyMetadata"]
    kms.create_alias(AliasName="alias/first", TargetKeyId=key["KeyId"])
    message = dict(Message=b"m", SigningAlgorithm="RSASSA_PSS_SHA_256")
    assert kms.sign(KeyId="alias/first", **message)["KeyId"] == key["Arn"]
    assert code(lambda: kms.create_alias(AliasName="alias/first", TargetKeyId=key["KeyId"])) == "AlreadyExistsException"
    assert [alias["AliasName"] for alias in kms.list_aliases(KeyId=key["KeyId"])["Aliases"]] == ["alias/first"]
    kms.tag_resource(KeyId=key["KeyId"], Tags=[{"TagKey": "b", "TagValue": "2"}])
    kms.untag_resource(KeyId=key["KeyId"], TagKeys=["a"])
    assert kms.list_resource_tags(KeyId=key["KeyId"])["Tags"] == [{"TagKey": "b", "TagValue": "2"}]
    kms.disable_key(KeyId=key["KeyId"])
    assert code(lambda: kms.sign(KeyId="alias/first", **message)) == "DisabledException"
    kms.enable_key(KeyId=key["KeyId"])
    kms.schedule_key_deletion(KeyId=key["KeyId"], PendingWindowInDays=7)
    assert code(lambda: kms.sign(KeyId="alias/first", **message)) == "KMSInvalidStateException"
    kms.cancel_key_deletion(KeyId=key["KeyId"])
    assert kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"]["KeyState"] == "Disabled"
    kms.delete_alias(AliasName="alias/first")
    assert code(lambda: kms.describe_key(KeyId="alias/first")) == "NotFoundException"
    identifiers = [each["KeyId"] for page in kms.get_paginator("list_keys").paginate(Limit=2) for each in page["Keys"]]
    assert key["KeyId"] in identifiers and len(identifiers) == len(set(identifiers))


def test_grants_and_policies_decide(service, kms, signing_key):
    other = service.kms(service.credential("other", "--allow", "watch"))
    message = dict(KeyId=signing_key, Message=b"m", SigningAlgorithm="RSASSA_PSS_SHA_256")
    assert code(lambda: other.sign(**message)) == "AccessDeniedException"
    grantee = "arn:aws:iam::000000000000:user/other"
    grant = kms.create_grant(KeyId=signing_key, GranteePrincipal=grantee, Operations=["Sign"])
    assert other.sign(**message)["Signature"]
    assert code(lambda: other.get_public_key(KeyId=signing_key)) == "AccessDeniedException"
    kms.revoke_grant(KeyId=signing_key, GrantId=grant["GrantId"])
    assert code(lambda: other.sign(**message)) == "AccessDeniedException"


def test_unsupported_operations_answer_as_they_do_elsewhere(kms, signing_key):
    assert code(lambda: kms.enable_key_rotation(KeyId=signing_key)) == "UnsupportedOperationException"
    assert code(lambda: kms.generate_mac(KeyId=signing_key, Message=b"m", MacAlgorithm="HMAC_SHA_256")) in (
        "UnsupportedOperationException", "InvalidKeyUsageException")


def send(service, credential, change=lambda request: None, change_signed=lambda request: None, date=None):
    """A ListKeys request, changed before and after it is signed."""
    request = AWSRequest("POST", service.url + "/", data=b"{}", headers={
        "X-Amz-Target": "TrentService.ListKeys", "Content-Type": "application/x-amz-json-1.1"})
    change(request)
    credentials = Credentials(credential["access_key_id"], credential["secret_access_key"])
    auth = SigV4Auth(credentials, "kms", "us-east-1")
    if date:
        import botocore.auth
        real, botocore.auth.get_current_datetime = botocore.auth.get_current_datetime, lambda *a, **k: date
        try:
            auth.add_auth(request)
        finally:
            botocore.auth.get_current_datetime = real
    else:
        auth.add_auth(request)
    change_signed(request)
    answer = URLLib3Session().send(request.prepare())
    return answer.status_code, answer.content


def test_requests_that_somebody_changed(service, credential):
    assert send(service, credential)[0] == 200

    def body(request):
        request.data = b'{"Limit":1}'

    def target(request):
        del request.headers["X-Amz-Target"]
        request.headers["X-Amz-Target"] = "TrentService.GenerateRandom"

    def unsigned(request):
        del request.headers["Authorization"]

    for change in (body, target, unsigned):
        status, content = send(service, credential, change_signed=change)
        assert status in (400, 403) and b"__type" in content, (change, status, content)
    wrong = dict(credential, secret_access_key="x" * 40)
    assert b"InvalidSignature" in send(service, wrong)[1]
    unknown = dict(credential, access_key_id="AKIA" + "A" * 16)
    assert send(service, unknown)[0] in (400, 403)


def test_times_that_are_too_far_away(service, credential):
    now = datetime.datetime.now(datetime.timezone.utc)
    for minutes in (-4, 4):
        # Within the window a request may be sent again, as with AWS.
        assert send(service, credential, date=now + datetime.timedelta(minutes=minutes))[0] == 200
    for minutes in (-6, 6):
        status, content = send(service, credential, date=now + datetime.timedelta(minutes=minutes))
        assert status in (400, 403) and b"__type" in content
