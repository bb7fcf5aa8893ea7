import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { aProgram } from '../support/program.ts';
import { aTlsReport } from '../support/tls-report.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));

describe('plumbline ingest', () => {
  const lines = (stdout: string) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  async function aCompany(env: NodeJS.ProcessEnv = {}) {
    const command = aProgram(env);
    const account = await command.json('account', 'create', 'A');
    await command.json('domain', 'add', account.id, 'example.com');
    await mkdir(join(command.folder, 'in/deep'), { recursive: true });
    await cp(join(FIXTURES, 'example-plain.xml'), join(command.folder, 'in/deep/a.xml'));
    return command;
  }

  test('prints a line for each document and a summary, and recognises a report that comes again', async () => {
    const { run, folder } = await aCompany();
    const first = await run(['ingest', join(folder, 'in'), '--json']);
    expect(first.status).toBe(0);
    const [document, last] = lines(first.stdout);
    expect(document).toMatchObject({
      input: join(folder, 'in', 'deep', 'a.xml'),
      outcome: 'stored',
      reason: null,
      domain: 'example.com',
    });
    expect(Object.keys(document)).toEqual(
      expect.arrayContaining([
        'report_id',
        'record_count',
        'total_messages',
        'aligned_messages',
        'warnings',
      ]),
    );
    expect(last.summary).toMatchObject({ documents: 1, stored: 1, rejected: 0 });
    const second = await run(['ingest', join(folder, 'in'), '--json']);
    expect(second.status).toBe(0);
    expect(lines(second.stdout)[0].outcome).toBe('duplicate');
  });

  test('a bad document does not stop the run, and a path that is not there ends it with status 1', async () => {
    const { run, folder } = await aCompany();
    await writeFile(join(folder, 'in/0-bad.xml'), '<feedback><report_metadata></feedback>');
    await writeFile(join(folder, 'in/1-empty.xml'), '');
    const { status, stdout } = await run(['ingest', join(folder, 'in'), '/nowhere', '--json']);
    expect(status).toBe(1);
    const outcomes = lines(stdout).slice(0, -1);
    expect(outcomes.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['rejected', 'bad_xml'],
      ['rejected', 'empty'],
      ['stored', null],
      ['rejected', 'unreadable'],
    ]);
    expect(outcomes[0].where).toMatch(/line \d+, column \d+/);
    expect(outcomes[3].input).toBe('/nowhere');
  });

  test('reads standard input, and prints the outcomes in a table', async () => {
    const { run } = aProgram();
    const { status, stdout } = await run(['ingest', '-'], 'unused');
    expect(status).toBe(0);
    expect(stdout).toMatch(/rejected/);
    expect(stdout).toMatch(/neither XML nor JSON nor anything that could hold it/);
  });

  test('reports that came before their domain was added are claimed with it', async () => {
    const { run, json, folder } = aProgram();
    await cp(join(FIXTURES, 'example-plain.xml'), join(folder, 'a.xml'));
    expect(lines((await run(['ingest', join(folder, 'a.xml'), '--json'])).stdout)[0].outcome).toBe(
      'unclaimed',
    );
    await writeFile(join(folder, 'b.json'), aTlsReport());
    await run(['ingest', join(folder, 'b.json')]);
    const account = await json('account', 'create', 'A');
    expect(await json('domain', 'list', '--unclaimed')).toEqual([
      {
        ...{ domain: 'example.com', reports: 1, tls_reports: 1 },
        last_report_at: expect.stringMatching(/Z$/),
      },
    ]);
    const added = await json('domain', 'add', account.id, 'example.com');
    expect(added).toMatchObject({ claimed_reports: 1, claimed_tls_reports: 1 });
    expect(await json('domain', 'list', '--unclaimed')).toEqual([]);
    expect(lines((await run(['ingest', join(folder, 'a.xml'), '--json'])).stdout)[0].outcome).toBe(
      'duplicate',
    );
  });

  test('gzip on standard input is detected from its bytes', async () => {
    const { run } = aProgram();
    const { stdout } = await run(['ingest', '-', '--json'], gzipSync('<feedback/>'));
    expect(lines(stdout)[0]).toMatchObject({ input: '-', outcome: 'rejected' });
  });

  test('a rejection fails the run only with --strict', async () => {
    const { run, folder } = await aCompany();
    await writeFile(join(folder, 'in/0-bad.xml'), '<feedback>');
    expect((await run(['ingest', join(folder, 'in')])).status).toBe(0);
    expect((await run(['ingest', join(folder, 'in'), '--strict'])).status).toBe(1);
    await rm(join(folder, 'in/0-bad.xml'));
    expect((await run(['ingest', join(folder, 'in'), '--strict'])).status).toBe(0);
  });

  test('with --quiet prints only what could not be read', async () => {
    const { run, folder } = await aCompany();
    await writeFile(join(folder, 'in/0-bad.xml'), '<feedback>');
    expect(await run(['ingest', join(folder, 'in'), '--quiet'])).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
    expect(await run(['ingest', '/nowhere', '--quiet'])).toEqual({
      status: 1,
      stdout: '',
      stderr: '/nowhere: It cannot be read: there is no such file or folder.\n',
    });
  });

  test('with --quiet and --strict says in one line why it ends with status 1', async () => {
    const { run, folder } = await aCompany();
    const strict = (...paths: string[]) => run(['ingest', ...paths, '--quiet', '--strict']);
    await writeFile(join(folder, 'in/0-bad.xml'), '<feedback>');
    expect(await strict(join(folder, 'in'))).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Documents that were rejected: 1. plumbline document list --outcome rejected\n',
    });
    const { stderr } = await strict('/nowhere');
    expect(stderr).toBe('/nowhere: It cannot be read: there is no such file or folder.\n');
    expect((await strict(join(folder, 'in/deep'))).stderr).toBe('');
  });

  test('shows the whole path that could not be read, and no list in which it is not', async () => {
    const { run, folder } = await aCompany();
    const { stdout } = await run(['ingest', 'no-such-folder']);
    expect(stdout).toContain(`\n${resolve('no-such-folder')}  It cannot be read: there is no such`);
    expect(stdout).toMatch(/rejected +1 +could not be read: see below/);
    expect(stdout).not.toContain('document list');
    await writeFile(join(folder, 'bad.xml'), '<feedback>');
    const both = await run(['ingest', 'no-such-folder', join(folder, 'bad.xml')]);
    expect(both.stdout).toMatch(/rejected +2 .*document list --outcome rejected/);
    const quiet = await run(['ingest', 'no-such-folder', '--quiet']);
    expect(quiet.stderr).toMatch(`${resolve('no-such-folder')}: It cannot be read`);
  });

  test('says that an empty folder is empty', async () => {
    const { run, folder } = await aCompany();
    const empty = join(folder, 'empty');
    await mkdir(empty);
    await writeFile(join(empty, '.hidden.xml'), '<feedback/>');
    const { status, stdout, stderr } = await run(['ingest', empty]);
    expect([status, stdout]).toEqual([0, '']);
    expect(stderr).toContain(`There is nothing to read in ${empty}. In folders, hidden files`);
  });

  test('explains each outcome that occurred, and no other', async () => {
    const { run, folder } = await aCompany();
    const plain = await readFile(join(folder, 'in/deep/a.xml'), 'utf8');
    await writeFile(
      join(folder, 'in/z.xml'),
      plain.replace('<count>7</count>', '<count>8</count>'),
    );
    const { stdout } = await run(['ingest', join(folder, 'in')]);
    expect(stdout).toMatch(/stored +1 +new reports/);
    expect(stdout).toMatch(/conflict +1 +a stored report again, with other content; the first one/);
    expect(stdout).not.toMatch(/removed|duplicate/);
  });

  test('names files in the folder that was given relative to it, in 80 columns', async () => {
    const { run, folder } = await aCompany({ COLUMNS: '80' });
    const name = `${'long-name-'.repeat(12)}.xml`;
    await writeFile(join(folder, 'in/deep', name), '<feedback>');
    const { stdout } = await run(['ingest', join(folder, 'in')]);
    expect(stdout).not.toContain(folder);
    expect(stdout).toMatch(/^deep\/long-name/m);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(stdout).not.toMatch(/bad_xml|E[A-Z]{4,}/);
  });
});
