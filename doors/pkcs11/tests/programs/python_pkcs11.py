"""python-pkcs11 on a token of the module, with cryptography as a judge for every padding.

Usage: python_pkcs11.py MODULE TOKEN PIN
"""

import sys
import threading

import pkcs11
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from pkcs11 import Attribute, KeyType, MGF, Mechanism, ObjectClass
from pkcs11.util.rsa import encode_rsa_public_key

HASHES = {"SHA224": hashes.SHA224(), "SHA256": hashes.SHA256(), "SHA384": hashes.SHA384(), "SHA512": hashes.SHA512()}


def refused(error, call, *arguments, **options):
    """Checks that a call raises `error`."""
    try:
        call(*arguments, **options)
    except error:
        return
    raise AssertionError(f"{error.__name__} was expected")


def signatures(private, public, judge):
    """Every signature mechanism, both ways."""
    message = b"message" * 1000
    for name, algorithm in HASHES.items():
        mechanism = getattr(Mechanism, f"{name}_RSA_PKCS")
        signature = private.sign(message, mechanism=mechanism)
        judge.verify(signature, message, padding.PKCS1v15(), algorithm)
        assert public.verify(message, signature, mechanism=mechanism)
        assert not public.verify(message + b"x", signature, mechanism=mechanism)
        for salt in (0, 20, algorithm.digest_size):
            mechanism = getattr(Mechanism, f"{name}_RSA_PKCS_PSS")
            parameter = (getattr(Mechanism, name), getattr(MGF, name), salt)
            signature = private.sign(message, mechanism=mechanism, mechanism_param=parameter)
            judge.verify(signature, message, padding.PSS(padding.MGF1(algorithm), salt), algorithm)
            assert public.verify(message, signature, mechanism=mechanism, mechanism_param=parameter)


def encryption(private, public, judge):
    """Every encryption mechanism, both ways."""
    for length in (0, 1, 100):
        message = bytes(range(length))
        assert private.decrypt(judge.encrypt(message, padding.PKCS1v15()), mechanism=Mechanism.RSA_PKCS) == message
        ciphertext = public.encrypt(message, mechanism=Mechanism.RSA_PKCS)
        assert private.decrypt(ciphertext, mechanism=Mechanism.RSA_PKCS) == message
        for name in ("SHA_1", "SHA256", "SHA512"):
            algorithm = hashes.SHA1() if name == "SHA_1" else HASHES[name]
            mask = MGF.SHA1 if name == "SHA_1" else getattr(MGF, name)
            for label in (None, b"label"):
                oaep = padding.OAEP(padding.MGF1(algorithm), algorithm, label)
                parameter = (getattr(Mechanism, name), mask, label)
                options = {"mechanism": Mechanism.RSA_PKCS_OAEP, "mechanism_param": parameter}
                assert private.decrypt(judge.encrypt(message, oaep), **options) == message
                assert private.decrypt(public.encrypt(message, **options), **options) == message


def pins(session, pin):
    """A key that asks for the PIN at every use."""
    public, private = session.generate_keypair(KeyType.RSA, 2048, private_template={Attribute.ALWAYS_AUTHENTICATE: True})
    signing, encryption = {"mechanism": Mechanism.SHA256_RSA_PKCS}, {"mechanism": Mechanism.RSA_PKCS}
    refused(pkcs11.UserNotLoggedIn, private.sign, b"message", **signing)
    assert public.verify(b"message", private.sign(b"message", pin=pin, **signing), **signing)
    ciphertext = public.encrypt(b"message", **encryption)
    refused(pkcs11.UserNotLoggedIn, private.decrypt, ciphertext, **encryption)
    assert private.decrypt(ciphertext, pin=pin, **encryption) == b"message"


def session_keys(token):
    """Keys that are not private need no login."""
    with token.open() as session:
        template = {Attribute.PRIVATE: False}
        public, private = session.generate_keypair(KeyType.RSA, 2048, private_template=template)
        signature = private.sign(b"message", mechanism=Mechanism.SHA256_RSA_PKCS)
        assert public.verify(b"message", signature, mechanism=Mechanism.SHA256_RSA_PKCS)


def threads(token, pin, key_id, judge):
    """Many threads, each with a session of its own."""
    failures = []

    def work(number):
        try:
            with token.open() as session:
                private = session.get_key(ObjectClass.PRIVATE_KEY, id=key_id)
                for round_number in range(20):
                    message = f"{number} {round_number}".encode()
                    signature = private.sign(message, mechanism=Mechanism.SHA256_RSA_PKCS)
                    judge.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
        except Exception as error:  # noqa: BLE001: the main thread reports it
            failures.append(error)

    with token.open(user_pin=pin):
        running = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    assert not failures, failures


def main():
    library, label, pin = sys.argv[1:]
    token = pkcs11.lib(library).get_token(token_label=label)
    refused(pkcs11.PinIncorrect, token.open, user_pin="wrong")
    key_id = b"python"
    with token.open(rw=True, user_pin=pin) as session:
        public, private = session.generate_keypair(KeyType.RSA, 2048, store=True, id=key_id, label="python")
        judge = serialization.load_der_public_key(public_der(public))
        signatures(private, public, judge)
        encryption(private, public, judge)
        pins(session, pin)
        refused(pkcs11.AttributeSensitive, private.__getitem__, Attribute.PRIVATE_EXPONENT)
        assert len(session.generate_random(256)) == 32
        assert session.digest(b"data", mechanism=Mechanism.SHA256) == digest(b"data")
        wrapper = session.generate_key(KeyType.AES, 256)
        travelling = session.generate_key(KeyType.AES, 128, template={Attribute.EXTRACTABLE: True})
        wrapped = wrapper.wrap_key(travelling, mechanism=Mechanism.AES_KEY_WRAP)
        wrapper.unwrap_key(ObjectClass.SECRET_KEY, KeyType.AES, wrapped, mechanism=Mechanism.AES_KEY_WRAP)
    threads(token, pin, key_id, judge)
    session_keys(token)
    with token.open(rw=True, user_pin=pin) as session:
        for key in session.get_objects({Attribute.ID: key_id}):
            key.destroy()
    print("python-pkcs11: every padding, threads and keys under keys")


def public_der(public):
    """The SubjectPublicKeyInfo of a public key object."""
    numbers = encode_rsa_public_key(public)
    key = serialization.load_der_public_key(numbers)
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def digest(data):
    context = hashes.Hash(hashes.SHA256())
    context.update(data)
    return context.finalize()


main()
