import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { updateApiKey } from '../../src/store/accounts/api-keys.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { type Answer, serveApi } from '../support/api.ts';
import { aDomain, anAccount } from '../support/builders.ts';
import { caseCount } from '../support/counts.ts';
import { aDatabase } from '../support/store.ts';
import type { Change } from './writer-process.ts';

/* What a server keeps of its reads is true until another process has committed something. */

const ROUNDS = caseCount({ few: 3, full: 30, fewOnPostgres: 1 });

test('each request sees what another process committed before it', async () => {
  const database = await aDatabase();
  const { db, get } = await serveApi({ store: await openStore(database) });
  const { id: accountId, key } = await anAccount(db);
  const domain = await aDomain(db, accountId);
  const reports = `/v1/external/domains/${domain.id}/reports`;
  const writer = fork(new URL('./writer-process.ts', import.meta.url), [database]);
  onTestFinished(() => void writer.disconnect());
  await once(writer, 'message');
  const ask = async (path: string, headers = {}): Promise<Answer> =>
    await get(path, { key, headers });
  const cursors = { reports: '', feed: '' };

  /** All that a client polls with, so that all is in memory. */
  const poll = async () => {
    const paths = [
      '/v1/external/domains',
      '/v1/external/key',
      reports,
      `${reports}?received_after=${cursors.reports || 'start'}`,
      '/v1/external/reports',
      '/v1/external/alerts',
      `/v1/external/domains/${domain.id}`,
      `/v1/external/changes?after=${cursors.feed || 'start'}`,
    ];
    for (const path of paths) expect((await ask(path)).status, path).toBe(200);
  };

  /** Asks for what changes, with a 304 for what had this tag before. */
  const see = async (changes: readonly Change[], path: string): Promise<Answer> => {
    const { etag } = (await ask(path)).headers;
    await poll();
    const done = once(writer, 'message');
    writer.send({ accountId, domains: [domain], changes });
    await done;
    const answer = await ask(path, { 'if-none-match': etag });
    expect(answer.status, path).toBe(200);
    expect(answer.headers['etag'], path).not.toBe(etag);
    return answer;
  };

  for (let round = 1; round <= ROUNDS; round += 1) {
    const stored: Change[] = [{ kind: 'reports', domain: 0, days: [1 + (round % 28)] }];
    expect((await see(stored, reports)).body.total).toBe(4 * round - 3);
    expect((await see(stored, '/v1/external/reports')).body.total).toBe(4 * round - 2);
    const after = await see(stored, `${reports}?received_after=${cursors.reports || 'start'}`);
    expect(after.body.total).toBe(round === 1 ? 3 : 4);
    cursors.reports = `${after.headers['plumbline-cursor']}`;
    const changes = await see(stored, `/v1/external/changes?after=${cursors.feed || 'start'}`);
    expect(changes.body.data.at(-1).type).toBe('report.stored');
    cursors.feed = `${changes.headers['plumbline-cursor']}`;
    const alert: Change[] = [
      { kind: 'fire', domain: 0 },
      { kind: 'resolve', nth: 0 },
    ];
    const resolved = await see(alert, '/v1/external/alerts?state=resolved');
    expect(resolved.body.total).toBe(round);
    for (const status of ['paused', 'active'] as const) {
      const set = await see([{ kind: 'status', domain: 0, status }], '/v1/external/domains');
      expect(set.body.total).toBe(status === 'active' ? 1 : 0);
    }
  }
}, 300_000);

test('a key that was disabled through another connection is refused at its next request', async () => {
  const database = await aDatabase();
  const { db, get } = await serveApi({ store: await openStore(database) });
  const other = await openStore(database);
  onTestFinished(() => other.close());
  const { key, keyId } = await anAccount(db);
  for (const isEnabled of [false, true, false]) {
    await updateApiKey(other.db, keyId, isEnabled);
    for (let i = 0; i < 2; i += 1)
      expect((await get('/v1/external/domains', { key })).status).toBe(isEnabled ? 200 : 401);
  }
});
