import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { insertApiKey } from '../../src/store/accounts/api-keys.ts';
import { copyContract, serveApi } from '../support/api.ts';
import { anAccount, NOW } from '../support/builders.ts';

test('GET /v1/external/key has the key, its account, its limits, the retention and the versions', async () => {
  const { db, get } = await serveApi({
    requestsPerKey: 61,
    requestsPerIp: 201,
    kept: { reportsDays: 400, originalsDays: undefined, auditDays: undefined },
  });
  const { id: accountId } = await anAccount(db, { name: 'Example Ltd' });
  const expiresAt = '2199-01-01T00:00:00Z';
  const { key } = await insertApiKey(db, { accountId, name: 'Dashboard', now: NOW, expiresAt });
  const { body, headers } = await get('/v1/external/key', { key });
  expect(body).toStrictEqual({
    data: {
      ...{ name: 'Dashboard', prefix: key.slice(0, 13), created_at: NOW, expires_at: expiresAt },
      account: { name: 'Example Ltd', plan: 'pro' },
      limits: { key_per_minute: 61, ip_per_minute: 201 },
      retention_days: 400,
      versions: {
        service: expect.stringContaining(manifest.version),
        contract: (await copyContract()).info.version,
      },
    },
  });
  const again = { key, headers: { 'If-None-Match': headers['etag'] ?? '' } };
  expect((await get('/v1/external/key', again)).status).toBe(304);
});

test('GET /v1/external/key has null for what has no end', async () => {
  const { db, get } = await serveApi();
  const { key } = await anAccount(db);
  const { body } = await get('/v1/external/key', { key });
  expect(body.data).toMatchObject({ expires_at: null, retention_days: null });
});
