import { chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { claimOrPropose } from '../../src/store/domains/proposals.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { operator } from '../../src/store/events/audit.ts';
import { deleteAccount } from '../../src/store/leaving/deleted-accounts.ts';
import { askForDeletion } from '../../src/store/leaving/deletion-request.ts';
import { aReport, receive } from '../support/builders.ts';
import { aProgram } from '../support/program.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('plumbline account, domain, key', () => {
  test('an account is created, listed, and moved to another plan', async () => {
    const { json } = aProgram();
    const account = await json('account', 'create', 'My company');
    expect(account).toEqual({ id: expect.stringMatching(UUID), name: 'My company', plan: 'pro' });
    expect(await json('account', 'plan', account.id, 'free')).toEqual({ ...account, plan: 'free' });
    const none = { deletion_asked_at: null, deletion_asked_by: null, deletion_command: null };
    expect(await json('account', 'list')).toEqual([{ ...account, plan: 'free', ...none }]);
  });

  test('an account with a name that is refused made a database', async () => {
    const { run, database } = aProgram();
    const { status, stderr } = await run(['account', 'create', ' ']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('needs a name')]);
    expect(existsSync(database)).toBe(false);
  });

  test.runIf(process.getuid?.() === 0)(
    'root is told that it made a database, or its key, in the folder of another user',
    async () => {
      const { run, folder } = aProgram();
      const before = await run(['account', 'create', 'A']);
      expect(before.stderr).not.toContain('Warning');
      const other = aProgram();
      chownSync(other.folder, 65_534, 65_534);
      const { status, stderr } = await other.run(['account', 'create', 'A']);
      expect([status, stderr]).toEqual([0, expect.stringContaining('belongs to root, so')]);
      expect(stderr).toContain(`chown --reference=${other.folder} `);
      expect(other.folder).not.toBe(folder);
      expect((await other.run(['account', 'list'])).stderr).toBe('');
      chownSync(other.database, 65_534, 65_534);
      const webhook = await other.run(['webhook', 'create', 'A', 'https://example.com/hook']);
      expect(webhook.stderr).toContain(`${other.database}.key belongs to root, so`);
      const backup = join(folder, 'backup.db');
      await run(['backup', backup]);
      const restored = await other.run(['restore', '--force', backup]);
      expect(restored.stderr).toContain('belongs to root, so');
    },
  );

  test('an account is renamed, but not to the name of another', async () => {
    const { json, run } = aProgram();
    const [one, other] = [
      await json('account', 'create', 'A'),
      await json('account', 'create', 'B'),
    ];
    expect(await json('account', 'rename', 'A', 'a')).toEqual({ ...one, name: 'a' });
    const refused = await run(['account', 'rename', 'a', 'b']);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(other.id)]);
    await json('account', 'rename', 'a', 'b', '--allow-duplicate');
    const renamed = (await json('audit', one.id)).filter(
      ({ action }: { action: string }) => action === 'account_renamed',
    );
    expect(renamed).toMatchObject([
      { subject: 'b', detail: 'a' },
      { subject: 'a', detail: 'A' },
    ]);
  });

  test('an account is exported to standard output, and to a new file that only its user can read', async () => {
    const { json, run, folder } = aProgram();
    await json('account', 'create', 'A');
    await json('domain', 'add', 'A', 'example.com');
    const { stdout, stderr } = await run(['account', 'export', 'A']);
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows[0]).toEqual({ export: 'plumbline account', version: 1 });
    expect(rows.at(-1)).toEqual({ end: true, rows: rows.length - 2 });
    expect(rows).toContainEqual(expect.objectContaining({ table: 'domain', name: 'example.com' }));
    expect(stderr).toBe(`Rows that were exported: ${rows.length - 2}.\n`);
    const file = join(folder, 'a.jsonl');
    await run(['account', 'export', 'A', file]);
    expect(readFileSync(file, 'utf8')).toBe(stdout);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await run(['account', 'export', 'A', file]);
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('cannot be made')]);
    expect(readFileSync(file, 'utf8')).toBe(stdout);
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([]);
  });

  test('the domains of a file are added, and what is wrong with one does not stop the next', async () => {
    const { json, run, folder } = aProgram();
    for (const name of ['A', 'B']) await json('account', 'create', name);
    await json('domain', 'add', 'B', 'taken.example');
    const file = join(folder, 'domains.txt');
    writeFileSync(file, '# ours\r\na.example\r\n\nno domain\ntaken.example\nco.uk\nb.example');
    const { status, stdout } = await run(['domain', 'add', 'A', '--file', file, '--json']);
    const wrong = (domain: string, error: string) => {
      return {
        domain,
        claimed_reports: null,
        claimed_tls_reports: null,
        error: expect.stringContaining(error),
      };
    };
    expect([status, JSON.parse(stdout)]).toEqual([
      1,
      [
        { domain: 'a.example', claimed_reports: 0, claimed_tls_reports: 0, error: null },
        wrong('no domain', 'not a domain name'),
        wrong('taken.example', 'another account'),
        wrong('co.uk', 'public suffix'),
        { domain: 'b.example', claimed_reports: 0, claimed_tls_reports: 0, error: null },
      ],
    ]);
    const piped = await run(['domain', 'add', 'A', '--file', '-', '--json'], 'c.example\n');
    expect([piped.status, JSON.parse(piped.stdout)]).toMatchObject([0, [{ domain: 'c.example' }]]);
    expect(await json('domain', 'list', 'A')).toHaveLength(3);
  });

  test('a file of names is bounded, exists, and comes instead of a name', async () => {
    const { json, run, folder } = aProgram();
    await json('account', 'create', 'A');
    const large = await run(['domain', 'add', 'A', '--file', '-'], 'x'.repeat(1024 * 1024 + 1));
    expect([large.status, large.stderr]).toEqual([1, expect.stringContaining('over 1 MiB')]);
    const none = await run(['domain', 'add', 'A', '--file', join(folder, 'none')]);
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('cannot be read')]);
    for (const args of [[], ['a.example', '--file', '-']])
      expect((await run(['domain', 'add', 'A', ...args])).status).toBe(2);
  });

  test('a change of the plan says how many keys it disabled, and how many stay disabled', async () => {
    const { json, run } = aProgram();
    await json('account', 'create', 'A');
    for (const name of ['x', 'y', 'z']) await json('key', 'create', 'A', name);
    const [{ id }] = await json('key', 'list', 'A');
    await json('key', 'disable', id);
    const change = async (plan: string) => (await run(['account', 'plan', 'A', plan])).stderr;
    expect(await change('free')).toContain('Keys that were disabled: 2.\n');
    expect(await change('free')).toContain('Keys that were disabled: 0.\n');
    expect(await change('pro')).toContain('Keys that stay disabled: 3. To enable one: ');
    for (const key of await json('key', 'list', 'A')) await json('key', 'enable', key.id);
    expect(await change('pro')).toBe('');
  });

  test('leaving the Pro plan turned endpoints off, and nobody was told: it says how many, and how many stay off', async () => {
    const { json, run } = aProgram();
    await json('account', 'create', 'A');
    const ids = [];
    for (const name of ['x', 'y'])
      ids.push((await json('webhook', 'create', 'A', `https://example.com/${name}`)).id);
    await json('webhook', 'disable', ids[0]);
    const change = async (plan: string) => (await run(['account', 'plan', 'A', plan])).stderr;
    expect(await change('free')).toContain('Webhook endpoints that were turned off: 1.\n');
    expect(await change('pro')).toContain(
      'Webhook endpoints that stay off: 2. To turn one on: plumbline webhook enable ',
    );
    const { stdout } = await run(['webhook', 'list', 'A']);
    expect(stdout).toMatch(/\/x +no +alert/);
    expect(stdout).toMatch(/\/y +no \(plan\) +alert/);
    for (const id of ids) await json('webhook', 'enable', id);
    expect(await change('pro')).toBe('');
  });

  test('a domain is added, paused, resumed and listed', async () => {
    const { json } = aProgram();
    const account = await json('account', 'create', 'A');
    const added = await json('domain', 'add', account.id, 'Example.COM.');
    expect(added).toEqual({
      id: expect.stringMatching(UUID),
      domain: 'example.com',
      status: 'active',
      claimed_reports: 0,
      claimed_tls_reports: 0,
    });
    const { claimed_reports: _, claimed_tls_reports: _tls, ...domain } = added;
    expect(await json('domain', 'pause', domain.id)).toEqual({ ...domain, status: 'paused' });
    expect(await json('domain', 'list', account.id)).toEqual([{ ...domain, status: 'paused' }]);
    expect(await json('domain', 'resume', domain.id)).toEqual(domain);
  });

  test('a domain is removed: its reports are unclaimed, and another account can have it', async () => {
    const { json, run } = aProgram();
    for (const name of ['A', 'B']) await json('account', 'create', name);
    const { id } = await json('domain', 'add', 'A', 'example.com');
    const { stdout, stderr } = await run(['domain', 'remove', 'Example.com', '--json']);
    expect(JSON.parse(stdout)).toEqual({ id, domain: 'example.com', removed: true });
    expect(stderr).toContain('Its alerts and the marks of its sources were deleted.');
    expect(await json('domain', 'list', 'A')).toEqual([]);
    expect((await run(['domain', 'remove', 'example.com'])).status).toBe(1);
    expect((await json('domain', 'add', 'B', 'example.com')).id).toBe(id);
  });

  test('a domain is removed with its reports only when that is confirmed', async () => {
    const { json, run, database } = aProgram();
    await json('account', 'create', 'A');
    await json('domain', 'add', 'A', 'example.com');
    const store = await openStore(database);
    await receive(store.db, [aReport({ domain: 'example.com' })]);
    const removal = ['domain', 'remove', 'example.com', '--delete-reports'];
    const { status, stderr } = await run(removal);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(
        /example\.com has 1 report\. It will be deleted, .* alerts and the marks of its sources/,
      ),
    ]);
    expect(await store.db.selectFrom('report').select('id').execute()).toHaveLength(1);
    expect(await json(...removal, '--yes')).toMatchObject({ domain: 'example.com', removed: true });
    expect(await store.db.selectFrom('report').select('id').execute()).toEqual([]);
    await store.close();
  });

  test('an account is deleted only when that is confirmed, and is gone then', async () => {
    const { json, run, database } = aProgram();
    const { id } = await json('account', 'create', 'A');
    await json('domain', 'add', 'A', 'example.com');
    const store = await openStore(database);
    const at = '2026-03-15T04:12:09Z';
    await askForDeletion(store.db, id, { name: 'owner@example.com', address: null, at });
    await store.close();
    const asked = { deletion_asked_at: at, deletion_asked_by: 'owner@example.com' };
    expect(await json('account', 'list')).toMatchObject([asked]);
    const { status, stderr } = await run(['account', 'delete', 'A']);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('Nothing was deleted: there is no terminal'),
    ]);
    expect(stderr).toContain(
      'has 1 domain, 0 reports, 0 TLS reports, 0 keys, 0 webhooks, 0 people.',
    );
    expect(stderr).toContain(`owner@example.com, an owner, asked for its deletion at ${at}.`);
    const none = { reports: 0, tls_reports: 0, keys: 0, people: 0, webhooks: 0 };
    const counts = { domains: 1, ...none, kept_reports: false };
    const deletion = ['account', 'delete', 'A', '--yes'];
    const wanted = { id, name: 'A', ...counts, ...asked };
    expect(await json(...deletion, '--dry-run')).toEqual({ ...wanted, deleted: false });
    expect(await json(...deletion)).toEqual({ ...wanted, deleted: true });
    expect(await json('account', 'list')).toEqual([]);
  });

  test('a deletion that gives no space back, as every one on PostgreSQL, spoke of the file', async () => {
    const { json, run } = aProgram();
    await json('account', 'create', 'A');
    const { status, stderr } = await run(['account', 'delete', 'A', '--yes']);
    expect([status, stderr]).toEqual([0, '']);
  });

  test('a deletion that was killed is listed, and found by doctor, with the command that ends it', async () => {
    const { json, run, database } = aProgram();
    const { id } = await json('account', 'create', 'A');
    await json('domain', 'add', 'A', 'example.com');
    const store = await openStore(database);
    let writes = 0;
    const write: Db['write'] = async (change) => {
      writes += 1;
      if (writes > 1) throw new Error('killed');
      return await store.db.write(change);
    };
    const deletion = { by: operator(), keepsReports: true };
    await expect(deleteAccount({ ...store.db, write }, id, deletion)).rejects.toThrow('killed');
    await store.close();
    const command = `plumbline account delete ${id} --yes --keep-reports`;
    expect(await json('account', 'list')).toMatchObject([{ deletion_command: command }]);
    const { stdout } = await run(['doctor', '--json']);
    const work = JSON.parse(stdout).find(({ check }: { check: string }) => check === 'work');
    expect(work).toMatchObject({ level: 'warning', advice: `End it: ${command}` });
    await json(...command.split(' ').slice(1));
    expect(await json('account', 'list')).toEqual([]);
  });

  test('a proposed domain is listed, and ignored or added', async () => {
    const { json, run, database } = aProgram();
    const { id: accountId } = await json('account', 'create', 'A');
    const now = '2026-03-15T04:12:09Z';
    const store = await openStore(database);
    for (const name of ['example.com', 'evil.example'])
      await claimOrPropose(store.db, { accountId, name, now });
    await store.close();
    const proposed = { proposed_at: now, ignored_at: null };
    expect(await json('domain', 'proposals', 'A')).toEqual([
      { domain: 'evil.example', ...proposed },
      { domain: 'example.com', ...proposed },
    ]);
    const ignored = await json('domain', 'ignore', 'A', 'Evil.example.');
    expect(ignored).toEqual({ domain: 'evil.example', ignored: true });
    await json('domain', 'add', 'A', 'example.com');
    const { stdout } = await run(['domain', 'proposals', 'A']);
    expect(stdout).toMatch(/^evil\.example +2026-03-15 04:12 +20\d\d-/m);
    expect(stdout).not.toContain('example.com');
    const { status, stderr } = await run(['domain', 'ignore', 'A', 'example.com']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('no proposal')]);
  });

  test('adding a parent or subdomain of another account’s domain prints a warning', async () => {
    const { json, run } = aProgram();
    const [mine, other] = [
      await json('account', 'create', 'A'),
      await json('account', 'create', 'B'),
    ];
    for (const name of ['example.com', 'a.mail.example.com', 'xmail.example.com']) {
      await json('domain', 'add', other.id, name);
    }
    await json('domain', 'add', mine.id, 'other.mail.example.com');
    const { status, stdout, stderr } = await run([
      ...['domain', 'add', mine.id, 'mail.example.com', '--json'],
    ]);
    expect([status, JSON.parse(stdout).domain]).toEqual([0, 'mail.example.com']);
    expect(stderr.trim().split('\n')).toEqual([
      `Warning: the subdomain a.mail.example.com belongs to another account, ${other.id}.`,
      `Warning: the parent domain example.com belongs to another account, ${other.id}.`,
    ]);
  });

  test('a whole key is shown once; the key can then be disabled, enabled and deleted', async () => {
    const { json } = aProgram();
    const account = await json('account', 'create', 'A');
    const { key, ...rest } = await json('key', 'create', account.id, ' Dashboard ');
    expect(key).toMatch(/^plb_live_[0-9A-Za-z]{36}$/);
    expect(rest).toEqual({
      id: expect.stringMatching(UUID),
      name: 'Dashboard',
      prefix: key.slice(0, 13),
      enabled: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      last_used_at: null,
      expires_at: null,
    });
    expect(await json('key', 'disable', rest.id)).toEqual({ ...rest, enabled: false });
    expect(await json('key', 'enable', rest.id)).toEqual(rest);
    expect(await json('key', 'list', account.id)).toEqual([rest]);
    expect(await json('key', 'delete', rest.id)).toEqual(rest);
    expect(await json('key', 'list', account.id)).toEqual([]);
  });

  test('a new account is on Pro by default, and a free one gets no key', async () => {
    const { json, run } = aProgram();
    const account = await json('account', 'create', 'A', '--plan', 'free');
    const { status, stdout, stderr } = await run(['key', 'create', account.id, 'x', '--json']);
    expect(status).toBe(1);
    expect(JSON.parse(stdout).error.code).toBe('plan_required');
    expect(stderr).toMatch(/Pro/);
  });

  test('without --json the output is tables and sentences', async () => {
    const { run, json } = aProgram();
    const account = await json('account', 'create', 'A');
    expect((await run(['account', 'list'])).stdout).toContain(account.id);
    const created = await run(['key', 'create', account.id, 'x']);
    expect(created.stdout).toMatch(/key +plb_live_/);
    expect(created.stderr).toMatch(/cannot show it again/);
  });
});

describe('a name instead of an id', () => {
  test('is accepted for accounts, domains and people', async () => {
    const { json } = aProgram();
    const account = await json('account', 'create', 'My company');
    const { id } = await json('domain', 'add', 'My company', 'example.com');
    expect(await json('domain', 'pause', 'Example.com')).toMatchObject({ id, status: 'paused' });
    expect(await json('domain', 'resume', id.toUpperCase())).toMatchObject({ status: 'active' });
    expect(await json('domain', 'list', 'My company')).toHaveLength(1);
    await json('key', 'create', 'My company', 'x');
    expect(await json('key', 'list', 'My company')).toHaveLength(1);
    const person = await json('user', 'add', 'My company', 'ada@example.com', '--invite');
    const disabled = await json('user', 'disable', 'ADA@example.com', '--force');
    expect(disabled).toMatchObject({ id: person.id });
    expect(await json('audit', 'My company', '--kind', 'key')).toHaveLength(1);
    expect(await json('alerts', 'list', 'My company')).toEqual([]);
    expect(await json('alerts', 'evaluate', '--domain', 'example.com')).toMatchObject({ fired: 0 });
    expect(await json('alerts', 'explain', 'example.com', 'reports_missing')).toMatchObject({
      domain: 'example.com',
    });
    expect(await json('account', 'plan', 'My company', 'free')).toMatchObject({ id: account.id });
  });

  test('of several accounts is refused, with their ids', async () => {
    const { json, run } = aProgram();
    const create = () => json('account', 'create', 'A', '--allow-duplicate');
    const ids = [await create(), await create()];
    const { status, stderr } = await run(['domain', 'list', 'A']);
    expect(status).toBe(1);
    for (const { id } of ids) expect(stderr).toContain(id);
    expect(await json('domain', 'list', ids[0].id)).toEqual([]);
  });

  test('that is another account’s id means that other account', async () => {
    const { json } = aProgram();
    const first = await json('account', 'create', 'A');
    await json('account', 'create', first.id);
    await json('domain', 'add', first.id, 'example.com');
    expect(await json('domain', 'list', first.id)).toHaveLength(1);
    expect(await json('account', 'plan', first.id, 'free')).toMatchObject({ name: 'A' });
  });
});

describe('what is refused', () => {
  test.each(['', '  ', 'two\nlines', 'x'.repeat(101)])('an account called %j', async (name) => {
    const { run } = aProgram();
    const { status, stderr } = await run(['account', 'create', name]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('1 to 100 characters')]);
  });

  test.each(['My company', 'MY COMPANY', ' my company '])(
    'an account called %j when another one has the name',
    async (name) => {
      const { run, json } = aProgram();
      const { id } = await json('account', 'create', 'My company');
      const { status, stderr } = await run(['account', 'create', name]);
      const message = `The account ${id} has the name “My company” already.\n`;
      expect([status, stderr]).toEqual([1, message]);
      expect(await json('account', 'list')).toHaveLength(1);
    },
  );

  test.each(['co.uk', 'CO.UK.', 'foo.ck'])(
    '%s as a domain: it is a public suffix',
    async (name) => {
      const { run, json } = aProgram();
      await json('account', 'create', 'A');
      const { status, stderr } = await run(['domain', 'add', 'A', name]);
      expect([status, stderr]).toEqual([1, expect.stringContaining('is a public suffix')]);
    },
  );

  test('a suffix of a private owner is a domain like any other', async () => {
    const { json } = aProgram();
    await json('account', 'create', 'A');
    expect(await json('domain', 'add', 'A', 'github.io')).toMatchObject({ domain: 'github.io' });
    expect(await json('domain', 'add', 'A', 'example.co.uk')).toMatchObject({ status: 'active' });
  });

  test('domain list with neither an account nor --unclaimed, and with both', async () => {
    const { run, json } = aProgram();
    await json('account', 'create', 'A');
    for (const args of [
      ['domain', 'list'],
      ['domain', 'list', 'A', '--unclaimed'],
    ])
      expect(await run(args)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('Give an account, or --unclaimed'),
      });
  });
});
