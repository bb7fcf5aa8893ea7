import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { warnOfLooseFiles } from '../../src/commands/loose-files.ts';
import { createSealings } from '../../src/config/secrets-key.ts';
import { unsealSecret } from '../../src/settings/sign-in/code-proof.ts';
import { startApi } from '../support/api.ts';
import { aDatabasePath } from '../support/store.ts';

const aPath = () => `${aDatabasePath()}.key`;
const yes = async () => true;
const aKey = (byte: number) => Buffer.alloc(32, byte).toString('base64');

test('a key is made once, also by two at the same time, and nothing is left beside it', async () => {
  const path = aPath();
  const [one, two] = [1, 2].map(() => createSealings({ path, isMade: true }));
  const made = await Promise.all([one?.({ mayMake: yes }), two?.({ mayMake: yes })]);
  const sealed = made[0]?.seal('secret', 'me') ?? '';
  expect(made[1]?.unseal(sealed, 'me')).toBe('secret');
  expect(readdirSync(dirname(path))).toEqual(['plumbline.db.key']);
});

test('a key is on the disk, and then its name, before it is used', async () => {
  const path = aPath();
  const file = await open('/dev/null');
  const sync = vi.spyOn(Object.getPrototypeOf(file), 'sync');
  onTestFinished(() => sync.mockRestore());
  await file.close();
  const isThere: boolean[] = [];
  sync.mockImplementation(async () => void isThere.push(existsSync(path)));
  await createSealings({ path, isMade: true })({ mayMake: yes });
  expect(isThere).toEqual([false, true]);
});

test('a lost key is not replaced while a secret needs it, nor to decrypt one', async () => {
  const path = aPath();
  const openSealing = createSealings({ path, isMade: true });
  const lost = /\.key is missing, and the database has secrets that need its key/;
  await expect(openSealing()).rejects.toThrow(lost);
  await expect(openSealing({ mayMake: async () => false })).rejects.toThrow(lost);
  expect(existsSync(path)).toBe(false);
});

test('a key that was replaced is read again once it does not fit', async () => {
  const path = aPath();
  writeFileSync(path, aKey(1));
  const openSealing = createSealings({ path, isMade: true });
  const first = (await openSealing()).seal('one', 'me');
  writeFileSync(path, aKey(2));
  const second = (await createSealings({ path, isMade: true })()).seal('two', 'me');
  const unseal = (sealed: string) => unsealSecret({ openSealing } as never, 'me', sealed);
  expect(await unseal(first)).toBe('one');
  expect(await unseal(second)).toBe('two');
  await expect(unseal(first)).rejects.toMatchObject({ code: 'unavailable' });
});

test('a file that is lost does not take the key from a process that knows it', async () => {
  const path = aPath();
  writeFileSync(path, aKey(1));
  const openSealing = createSealings({ path, isMade: true });
  const sealed = (await openSealing()).seal('secret', 'me');
  rmSync(path);
  await expect(openSealing({ isFresh: true })).rejects.toThrow(/is missing/);
  expect((await openSealing()).unseal(sealed, 'me')).toBe('secret');
});

test.each([
  ['is missing', undefined, /^PLUMBLINE_SECRETS_KEY_FILE: \S+ cannot be read: /],
  ['has no key', 'too short\n', /^PLUMBLINE_SECRETS_KEY_FILE: \S+ does not have 32 bytes/],
])('a configured file that %s is an error at start', async (_what, text, problem) => {
  const path = join(dirname(aPath()), 'secrets-key');
  if (text !== undefined) writeFileSync(path, text);
  const start = startApi({ secretsKeyFile: { path, isMade: false } });
  await expect(start).rejects.toThrow(problem);
  expect(text === undefined || readFileSync(path, 'utf8') === text).toBe(true);
});

test.each([
  [true, 0o640, '600'],
  [false, 0o644, '640'],
])(
  'a key that other users can read is warned about (made: %s, mode %o)',
  (isMade, mode, wanted) => {
    const path = aPath();
    writeFileSync(path, aKey(1));
    chmodSync(dirname(path), 0o755);
    chmodSync(path, mode);
    const config = { database: ':memory:', secretsKeyFile: { path, isMade } };
    const texts: string[] = [];
    warnOfLooseFiles(config, (text) => texts.push(text));
    expect(texts).toEqual([expect.stringMatching(new RegExp(`chmod ${wanted} ${path}$`))]);
    chmodSync(path, Number.parseInt(wanted, 8));
    warnOfLooseFiles(config, (text) => texts.push(text));
    expect(texts).toHaveLength(1);
  },
);
