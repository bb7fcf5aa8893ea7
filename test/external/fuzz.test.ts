import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aDomain, anAccount, anAlert, aReport, receive } from '../support/builders.ts';
import { holdToContract, holdToErrorShape } from '../support/contract.ts';
import { RawClient } from '../support/raw-http.ts';
import { runServer } from '../support/running-server.ts';
import { aDatabasePath } from '../support/store.ts';

/** `FUZZ_REQUESTS=20000 npx vitest run test/external/fuzz.test.ts` for a long run. */
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 1_000);
const MINUTE_MS = 60_000;

/** Requests that are sent over one connection, as long as the server keeps it open. */
const PER_CONNECTION = 20;

interface Fuzzed {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
}

/**
 * Any bytes except those that would end a request line or a header. Few of them are rejected as invalid HTTP.
 */
const raw = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((array) =>
    Buffer.from(array)
      .toString('latin1')
      .replace(/[\r\n]/g, ''),
  );
/** Bytes that HTTP allows in a URL or a header, and sometimes others. */
const lawful = (maxLength: number, unlawful: RegExp) =>
  fc.oneof(
    { weight: 120, arbitrary: raw(maxLength).map((text) => text.replace(unlawful, '')) },
    raw(maxLength),
  );
const urlBytes = (maxLength: number) => lawful(maxLength, /[^!-~]/g);
const fieldBytes = (maxLength: number) => lawful(maxLength, /[^\t -~\x80-\xff]/g);
/** Text that is valid in a request line: every other byte is percent-encoded. */
const encoded = fc
  .uint8Array({ maxLength: 12 })
  .map((array) => [...array].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''));
const bad = fc.oneof(
  {
    weight: 120,
    arbitrary: fc.constantFrom(
      '%',
      '%zz',
      '%0',
      '%00',
      '%C0%80',
      '%FF',
      '..',
      '\\',
      '%2F',
      '%2e%2e',
      ';',
      '#',
    ),
  },
  fc.constantFrom('\0', '\x7f', '\xff', ' ', '\t'),
);
const digits = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.nat(300).map(String),
  fc.constantFrom(
    '',
    '0',
    '00',
    '-0',
    '1e3',
    '0x1',
    '+1',
    '1.0',
    '%201',
    '9'.repeat(400),
    'NaN',
    '١',
  ),
);
const long = fc.nat(8_000).map((length) => 'x'.repeat(length));

const uuid = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.uuid().map((id) => `urn:uuid:${id}`),
);

function fuzzedRequest(known: { readonly domainId: string; readonly key: string }) {
  const id = fc.oneof(fc.constant(known.domainId), uuid, encoded, bad, long, urlBytes(8));
  const path = fc.oneof(
    { weight: 3, arbitrary: fc.constant('/v1/external/domains') },
    { weight: 3, arbitrary: fc.constant('/v1/external/alerts') },
    { weight: 2, arbitrary: fc.constant('/v1/external/reports') },
    { weight: 6, arbitrary: id.map((text) => `/v1/external/domains/${text}/reports`) },
    { weight: 2, arbitrary: id.map((text) => `/v1/external/domains/${text}`) },
    { weight: 2, arbitrary: id.map((text) => `/v1/external/domains/${text}/sources`) },
    {
      weight: 3,
      arbitrary: id.map((text) => `/v1/external/domains/${known.domainId}/reports/${text}/records`),
    },
    fc.oneof(id, urlBytes(40)).map((text) => `/v1/external/${text}`),
    fc.oneof(id, urlBytes(40)).map((text) => `/${text}`),
    fc.constantFrom(
      '*',
      '/',
      '/healthz',
      '/readyz',
      'http://other.example/v1/external/domains',
      '//',
      '/%',
    ),
  );
  const name = fc.oneof(
    fc.constantFrom(
      'limit',
      'offset',
      'domain_id',
      'type',
      'from',
      'until',
      'limit[]',
      'offset[a]',
      'l%69mit',
      '__proto__',
    ),
    fc.oneof(encoded, urlBytes(8)),
  );
  const value = fc.oneof(
    { weight: 4, arbitrary: digits },
    { weight: 2, arbitrary: fc.constant(known.domainId) },
    fc.constantFrom('alert.alignment_regression', 'alert.of_tomorrow'),
    fc.constantFrom('2026-03-14', '2025-02-29', '0000-01-01', '1969-12-31', '9999-12-31'),
    fc.oneof(uuid, encoded, bad, long, urlBytes(20)),
  );
  const query = fc
    .array(
      fc
        .tuple(name, value, fc.constantFrom('=', '=', '=', '', '=='))
        .map(([n, v, eq]) => n + eq + v),
      { maxLength: 5 },
    )
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));
  const authorization = fc.oneof(
    { weight: 12, arbitrary: fc.constant(`Bearer ${known.key}`) },
    fc.constantFrom(
      `bearer ${known.key}`,
      known.key,
      `Bearer ${known.key} `,
      'Bearer',
      '',
      'Basic eA==',
    ),
    fc.oneof(fieldBytes(60), long).map((text) => `Bearer ${text}`),
  );
  const header = fc.oneof(
    fc.tuple(
      fc.constant('If-None-Match'),
      fc.oneof(fc.constantFrom('*', 'W/"', '"', '""', ',,,', 'W/"a", "b"'), fieldBytes(40), long),
    ),
    fc.tuple(
      fc.constant('Accept-Encoding'),
      fc.oneof(
        fc.constantFrom('gzip', 'br', '*', 'identity;q=0', 'gzip;q=x', ';', '*;q=0'),
        fieldBytes(30),
        long,
      ),
    ),
    fc.tuple(fc.constant('X-Request-Id'), fc.oneof(fieldBytes(70), encoded)),
    fc.tuple(fc.constant('X-Forwarded-For'), fieldBytes(30)),
    fc.tuple(
      fc.constantFrom(
        'Connection',
        'Expect',
        'Upgrade',
        'TE',
        'Range',
        'Cookie',
        'Content-Type',
        'Host',
      ),
      fc.oneof(
        fc.constantFrom('close', '100-continue', 'websocket', 'trailers', 'bytes=0-1'),
        fieldBytes(12),
      ),
    ),
    fc.tuple(fc.stringMatching(/^[A-Za-z-]{1,12}$/), fieldBytes(30)),
  );
  return fc.record({
    method: fc.oneof(
      { weight: 40, arbitrary: fc.constant('GET') },
      fc.constantFrom(
        'HEAD',
        'POST',
        'PUT',
        'DELETE',
        'OPTIONS',
        'TRACE',
        'CONNECT',
        'get',
        'GRAB',
        'QUERY',
      ),
    ),
    path,
    query,
    headers: fc
      .tuple(authorization, fc.array(header, { maxLength: 4 }))
      .map(([auth, rest]) => [['Authorization', auth], ...rest] as const),
  });
}

function toBytes({ method, path, query, headers }: Fuzzed): Buffer {
  const lines = [
    `${method} ${path}${query} HTTP/1.1`,
    'Host: api.example',
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/**
 * No answer may be a 500, be missing without reason, or contain anything that the contract does not declare.
 */
async function hold(client: RawClient, fuzzed: Fuzzed): Promise<number> {
  const answer = await client.send(toBytes(fuzzed), fuzzed.method === 'HEAD');
  // Node closes the connection of a CONNECT or an upgrade without an answer.
  if (answer === undefined) return 0;
  const { status, headers, body } = answer;
  expect(status).toBeLessThan(500);
  if (status >= 400 && body !== '') holdToErrorShape(body);
  // Invalid HTTP is answered before the API. Any other answer is checked against the contract.
  const path = fuzzed.path.replace(/^http:\/\/[^/]+/, '');
  const isApi = /^\/v1\/external([/?]|$)/i.test(path) && headers['x-request-id'] !== undefined;
  if (isApi) holdToContract({ method: fuzzed.method, path, status, headers, body });
  return status;
}

test(
  `${REQUESTS} random requests: no 500, no missing answer, nothing that the contract does not declare`,
  async () => {
    const { server, store } = await runServer({ PLUMBLINE_DATABASE: aDatabasePath() });
    const account = await anAccount(store.db);
    const { id: domainId, name } = await aDomain(store.db, account.id);
    await receive(
      store.db,
      Array.from({ length: 30 }, () => aReport({ domain: name })),
    );
    await anAlert(store.db, { accountId: account.id, domainId });
    const statuses: Record<number, number> = {};

    await fc.assert(
      fc.asyncProperty(
        fc.array(fuzzedRequest({ domainId, key: account.key }), {
          minLength: PER_CONNECTION,
          maxLength: PER_CONNECTION,
        }),
        async (requests) => {
          const client = new RawClient(server.url);
          try {
            for (const request of requests) {
              const status = await hold(client, request).catch((error: Error) => {
                throw new Error(`${error.message}, after ${toBytes(request).toString('latin1')}`);
              });
              statuses[status] = (statuses[status] ?? 0) + 1;
            }
          } finally {
            client.close();
          }
        },
      ),
      { numRuns: Math.ceil(REQUESTS / PER_CONNECTION), endOnFailure: true },
    );

    // Every kind of answer must occur.
    for (const status of [200, 400, 401, 404, 405, 422])
      expect(statuses[status]).toBeGreaterThan(0);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  },
  20 * MINUTE_MS,
);
