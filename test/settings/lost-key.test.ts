import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serveApi } from '../support/api.ts';
import { aBareAccount } from '../support/builders.ts';
import { aDatabasePath } from '../support/store.ts';
import { aSignedIn, toReadable } from '../support/visitor.ts';

const START = '/settings/second-factor/start';
const WORDS = 'A second factor cannot be set up at the moment.';

test('a second factor is not set up with a new key while one waits that needs the lost key', async () => {
  const path = `${aDatabasePath()}.key`;
  const api = await serveApi({ secretsKeyFile: { path, isMade: true } });
  const { browser } = await aSignedIn(api, await aBareAccount(api.db));
  expect((await browser.post(START)).status).toBe(303);
  rmSync(path);
  const { status, text } = await browser.post(START);
  expect([status, toReadable(text)]).toEqual([503, expect.stringContaining(WORDS)]);
  expect(existsSync(path)).toBe(false);
  expect(JSON.stringify(api.logged)).toContain(`${path} is missing`);
  await api.db.write((tx) => tx.deleteFrom('second_factor').execute());
  expect((await browser.post(START)).status).toBe(303);
  expect(existsSync(path)).toBe(true);
});

test('a configured file that is lost while the server runs is not called a lost database', async () => {
  const path = `${aDatabasePath()}.key`;
  writeFileSync(path, Buffer.alloc(32, 1).toString('base64'));
  const api = await serveApi({ secretsKeyFile: { path, isMade: false } });
  const { browser } = await aSignedIn(api, await aBareAccount(api.db));
  rmSync(path);
  const { status, text } = await browser.post(START);
  expect([status, toReadable(text)]).toEqual([503, expect.stringContaining(WORDS)]);
  expect(JSON.stringify(api.logged)).toContain('ENOENT');
});
