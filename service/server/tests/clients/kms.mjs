// Signs, verifies, encrypts and decrypts with the JavaScript SDK, and checks the signature with Node's own library.
import assert from "node:assert/strict";
import crypto from "node:crypto";
import {
    CreateKeyCommand, DecryptCommand, EncryptCommand, GetPublicKeyCommand, KMSClient, SignCommand, VerifyCommand,
} from "@aws-sdk/client-kms";

const client = new KMSClient({ endpoint: process.env.ENDPOINT, region: "us-east-1", maxAttempts: 1 });
const create = (KeyUsage) => client.send(new CreateKeyCommand({ KeyUsage, KeySpec: "RSA_2048" }));

const KeyId = (await create("SIGN_VERIFY")).KeyMetadata.KeyId;
const what = { KeyId, Message: Buffer.from("from JavaScript"), SigningAlgorithm: "RSASSA_PSS_SHA_384" };
const { Signature } = await client.send(new SignCommand(what));
assert.equal((await client.send(new VerifyCommand({ ...what, Signature }))).SignatureValid, true);
const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId }));
const key = crypto.createPublicKey({ key: Buffer.from(PublicKey), format: "der", type: "spki" });
const pss = { key, padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
assert.ok(crypto.verify("sha384", what.Message, pss, Signature));
await assert.rejects(
    client.send(new VerifyCommand({ ...what, Signature: Buffer.alloc(256) })),
    (error) => error.name === "KMSInvalidSignatureException",
);

const second = (await create("ENCRYPT_DECRYPT")).KeyMetadata.KeyId;
const scheme = { KeyId: second, EncryptionAlgorithm: "RSAES_OAEP_SHA_256" };
const { CiphertextBlob } = await client.send(new EncryptCommand({ ...scheme, Plaintext: Buffer.from("secret") }));
const { Plaintext } = await client.send(new DecryptCommand({ ...scheme, CiphertextBlob }));
assert.equal(Buffer.from(Plaintext).toString(), "secret");
console.log("all well");
