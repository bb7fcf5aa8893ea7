import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeDomain } from '../../src/store/accounts/removed-domains.ts';
import { serveApi } from '../support/api.ts';
import { aDomain, anAccount, anAlert } from '../support/builders.ts';
import { aFolder, finish } from '../support/command.ts';
import { listSamplePages } from './pages.ts';

const PROGRAMS = listSamplePages().flatMap(({ steps }) => steps.flatMap((step) => step.programs));

/** Prints the ids of the copy when the program is told to end. */
const WATCHED = [
  {
    command: 'node',
    library: 'plumbline.mjs',
    file: 'poll.mjs',
    atEnd: `process.on('SIGTERM', () => process.exit(console.log('copy', [...copy.keys()].join())));\n`,
  },
  {
    command: 'python3',
    library: 'plumbline.py',
    file: 'poll.py',
    atEnd: `import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print("copy", ",".join(copy), flush=True)))\n`,
  },
];

test.each(WATCHED)(
  '$file has no alert in its copy that left the list with its domain',
  { timeout: 120_000 },
  async ({ command, library, file, atEnd }) => {
    const { db, port } = await serveApi();
    const { id: accountId, key } = await anAccount(db);
    const [kept, gone] = [await aDomain(db, accountId), await aDomain(db, accountId)];
    const id = await anAlert(db, { accountId, domainId: kept.id });
    await anAlert(db, { accountId, domainId: gone.id });

    const folder = await aFolder();
    await writeFile(join(folder, library), textOf(library));
    await writeFile(join(folder, file), atEnd + textOf(file));
    const child = spawn(command, [file, '1000', '1'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        PLUMBLINE_BASE_URL: `http://127.0.0.1:${port}`,
        PLUMBLINE_API_KEY: key,
      },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = finish(child);
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    const told = () => printed.match(/^open/gm)?.length ?? 0;
    await expect.poll(told, { timeout: 60_000 }).toBe(2);
    await removeDomain(db, gone.id);
    await expect.poll(told, { timeout: 60_000 }).toBe(3);
    child.kill('SIGTERM');
    const { stdout } = await ended;
    expect(stdout.trim().split('\n').at(-1)).toBe(`copy ${id}`);
  },
);

function textOf(name: string): string {
  const program = PROGRAMS.find(({ file }) => file === name);
  if (program === undefined) throw new Error(`The guides have no ${name}.`);
  return program.text;
}
