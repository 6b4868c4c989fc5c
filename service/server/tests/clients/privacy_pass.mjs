// Asks a modmill issuer for tokens, one by one and in a batch, finalizes and verifies them with Cloudflare's client.
// Usage: node privacy_pass.mjs http://127.0.0.1:PORT TOKEN
import assert from 'node:assert/strict';
import { MediaType, genericBatched, publicVerif } from '@cloudflare/privacypass-ts';

const [base, token] = process.argv.slice(2);
const { BlindRSAMode, Client, Origin, convertRSASSAPSSToEnc } = publicVerif;

const found = await fetch(`${base}/.well-known/private-token-issuer-directory`);
assert.equal(found.headers.get('content-type'), MediaType.PRIVATE_TOKEN_ISSUER_DIRECTORY);
assert.match(found.headers.get('cache-control'), /max-age=\d+/);
const directory = await found.json();
const entry = directory['token-keys'].find((key) => key['token-type'] === 2);
const spki = new Uint8Array(Buffer.from(entry['token-key'], 'base64url'));
const algorithm = { name: 'RSA-PSS', hash: 'SHA-384' };
const key = await crypto.subtle.importKey('spki', convertRSASSAPSSToEnc(spki), algorithm, true, ['verify']);
const origin = new Origin(BlindRSAMode.PSS, ['origin.example']);

const send = (contentType, body, authorization = `Bearer ${token}`) =>
    fetch(new URL(directory['issuer-request-uri'], base), {
        method: 'POST',
        headers: { 'content-type': contentType, ...(authorization && { authorization }) },
        body,
    });

const start = async () => {
    const client = new Client(BlindRSAMode.PSS);
    const context = crypto.getRandomValues(new Uint8Array(32));
    const challenge = origin.createTokenChallenge('issuer.example', context);
    return { client, request: await client.createTokenRequest(challenge, spki) };
};
const bytes = async (response) => new Uint8Array(await response.arrayBuffer());

// One token.
{
    const { client, request } = await start();
    const response = await send(MediaType.PRIVATE_TOKEN_REQUEST, request.serialize());
    assert.equal(response.status, 200, await response.clone().text());
    assert.equal(response.headers.get('content-type'), MediaType.PRIVATE_TOKEN_RESPONSE);
    const issued = await client.finalize(client.deserializeTokenResponse(await bytes(response)));
    assert.ok(await origin.verify(issued, key));
}

// A batch, with a request for a key that the issuer does not have.
{
    const all = await Promise.all(Array.from({ length: 20 }, start));
    const wrong = all[7].request;
    wrong.truncatedTokenKeyId ^= 1;
    const batcher = new genericBatched.Client();
    const batch = batcher.createTokenRequest(all.map(({ request }) => new genericBatched.TokenRequest(request)));
    const response = await send(MediaType.GENERIC_BATCHED_TOKEN_REQUEST, batch.serialize());
    assert.equal(response.status, 200, await response.clone().text());
    assert.equal(response.headers.get('content-type'), MediaType.GENERIC_BATCHED_TOKEN_RESPONSE);
    const answers = [...batcher.deserializeTokenResponse(await bytes(response))];
    assert.equal(answers.length, all.length);
    for (const [place, { client }] of all.entries()) {
        const { tokenResponse } = answers[place];
        if (place === 7) {
            assert.equal(tokenResponse, null);
            continue;
        }
        assert.ok(await origin.verify(await client.finalize(tokenResponse), key));
    }
}

// Refusals.
{
    const { request } = await start();
    const body = request.serialize();
    assert.equal((await send(MediaType.PRIVATE_TOKEN_REQUEST, body, 'Bearer wrong')).status, 401);
    assert.equal((await send('application/json', body)).status, 415);
    assert.equal((await send(MediaType.PRIVATE_TOKEN_REQUEST, body.slice(0, 100))).status, 400);
    body[2] ^= 1;
    assert.equal((await send(MediaType.PRIVATE_TOKEN_REQUEST, body)).status, 422);
}
console.log('20 tokens issued and verified');
