import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { serveApi } from '../support/api.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { aDatabasePath } from '../support/store.ts';

test('a server was ready while another process kept the database locked for longer than a change waits', async () => {
  const path = aDatabasePath();
  const { send } = await serveApi({ store: await openStore(path) });
  const other = new Database(path);
  onTestFinished(() => void other.close());
  const readStatus = async () => (await send('/readyz')).status;
  expect(await readStatus()).toBe(200);
  other.exec('begin immediate');
  // For a moment it is only busy.
  expect(await readStatus()).toBe(200);
  await expect.poll(readStatus, { timeout: PATIENCE_MS, interval: 500 }).toBe(503);
  // The next write waits again, and what is known stays.
  expect(await readStatus()).toBe(503);
  other.exec('rollback');
  await expect.poll(readStatus, { timeout: PATIENCE_MS, interval: 500 }).toBe(200);
}, 150_000);
