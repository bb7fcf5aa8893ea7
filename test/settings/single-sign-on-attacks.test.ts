import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../../src/store/engine/store.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { aBareAccount, NOW } from '../support/builders.ts';
import { RawClient } from '../support/raw-http.ts';
import { runServer } from '../support/running-server.ts';

const SIGN_ON_PATH = '/settings/single-sign-on';
const BASE_URL = 'https://dmarc.example.com';
const FLOW = { state: 's', nonce: 'n', verifier: 'v'.repeat(43), next: '' };

const [honest, forger] = [aKeyPair(), aKeyPair()];

let email: string;
let signer: KeyObject;
let server: { readonly url: string };
let store: Store;

beforeEach(async () => {
  [email, signer] = ['ada@example.com', honest.privateKey];
  const issuer = await aProvider();
  ({ server, store } = await runServer({
    PLUMBLINE_BASE_URL: BASE_URL,
    PLUMBLINE_OIDC_ISSUER: issuer,
    PLUMBLINE_OIDC_CLIENT_ID: 'plumbline',
    PLUMBLINE_OIDC_CLIENT_SECRET: 's3cret',
  }));
  const person = { email: 'ada@example.com', passwordHash: null, now: NOW };
  await insertPerson(store.db, { accountId: await aBareAccount(store.db), ...person });
});

function aKeyPair() {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** A provider that answers every code with an ID token for `email`, signed by `signer`. */
async function aProvider(): Promise<string> {
  const provider = createServer((req, res) => {
    const answer = toAnswers(issuer)[req.url ?? ''];
    res.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer?.()));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void provider.close());
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  return issuer;
}

const toAnswers = (issuer: string): Record<string, () => object> => ({
  '/.well-known/openid-configuration': () => ({
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
  }),
  '/jwks': () => ({
    keys: [{ ...honest.publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'k' }],
  }),
  '/token': () => ({ access_token: 'a', token_type: 'bearer', id_token: toIdToken(issuer) }),
});

function toIdToken(issuer: string): string {
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub: 'ada', aud: 'plumbline', iat, exp: iat + 60, nonce: 'n' };
  const parts = [
    { alg: 'RS256', kid: 'k' },
    { ...claims, email, email_verified: true },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signature = sign('sha256', Buffer.from(parts.join('.')), signer);
  return [...parts, signature.toString('base64url')].join('.');
}

/** The callback from the provider, with a cookie that the browser could have forged. */
async function comeBack(target = `${SIGN_ON_PATH}/callback?code=c&state=s`) {
  const cookie = Buffer.from(JSON.stringify(FLOW)).toString('base64url');
  const client = new RawClient(server.url);
  const answer = await client.send(
    `GET ${target} HTTP/1.1\r\nHost: a\r\nCookie: plumbline-flow=${cookie}\r\n\r\n`,
  );
  client.close();
  return answer;
}

describe('the callback of single sign-on', () => {
  test('accepts the person that the provider names in a signed token', async () => {
    const answer = await comeBack();
    expect([answer?.status, answer?.headers['location']]).toEqual([303, '/settings/overview']);
  });

  test('asks a person with a second factor for its code, and opens nothing before', async () => {
    const { id } = await store.db.selectFrom('person').select('id').executeTakeFirstOrThrow();
    const factor = { sealed_secret: 'v1.sealed', confirmed_at: NOW };
    await store.db.write((tx) =>
      tx
        .insertInto('second_factor')
        .values({ ...factor, person_id: id })
        .execute(),
    );
    const { status, headers } = (await comeBack()) ?? {};
    expect([status, headers?.['location']]).toEqual([
      303,
      '/settings/sign-in/code?next=%2Fsettings%2Foverview',
    ]);
    const cookies = String(headers?.['set-cookie']);
    expect(cookies).toMatch(/plumbline-pending=[\w-]{43}\.[\w-]+;/);
    expect(cookies).not.toContain('plumbline-session');
    const person = store.db.selectFrom('person').select('single_sign_on');
    expect(await person.execute()).toEqual([{ single_sign_on: null }]);
  });

  test('rejects an ID token with a foreign signature', async () => {
    signer = forger.privateKey;
    expect((await comeBack())?.status).toBe(401);
  });

  test('rejects an address that only looks like a person’s', async () => {
    email = '\uff41da@example.com';
    expect((await comeBack())?.status).toBe(401);
  });

  test.each([
    `http://evil.example${SIGN_ON_PATH}/callback?code=c&state=x`,
    `http://evil.example:1${SIGN_ON_PATH}/callback`,
    `https://evil.example${SIGN_ON_PATH}/callback?`,
    `${SIGN_ON_PATH}/callback?code=%&state=%zz`,
    `${SIGN_ON_PATH}/callback?code=c&state=s&state=s`,
  ])('with the request target %s is rejected, without a 500', async (target) => {
    expect((await comeBack(target))?.status).toBe(401);
  });

  test('is closed to an address after thirty failures, and so is its start', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    for (let i = 0; i < 30; i++)
      expect((await comeBack(`${SIGN_ON_PATH}/callback?i=${i}`))?.status).toBe(401);
    const answer = await comeBack();
    expect([answer?.status, answer?.headers['retry-after']]).toEqual([429, '900']);
    expect((await comeBack(SIGN_ON_PATH))?.status).toBe(429);
  });
});
