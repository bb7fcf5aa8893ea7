import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkReportRoute } from '../../src/dns/route-lookup.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { claimMails } from '../../src/store/inbox/claims.ts';
import { noteDoor } from '../../src/store/inbox/doors.ts';
import { failMails } from '../../src/store/inbox/results.ts';
import { aBareAccount, aDomain, aReport, receive } from '../support/builders.ts';
import { serveDns, type Zone } from '../support/dns-server.ts';
import { aReportXml, deliverMail, listMailRows } from '../support/inbox.ts';
import { workAll } from '../support/inbox-worker.ts';
import { base64, letter, mail, text } from '../support/mail.ts';
import { aProgram } from '../support/program.ts';

let program: ReturnType<typeof aProgram>;

/** Works with the command's database in this process. */
async function withDb<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const store = await openStore(program.database);
  try {
    return await work(store.db);
  } finally {
    await store.close();
  }
}

async function makeStuck(db: Db): Promise<void> {
  const holder = { id: 'test', claimMs: 60_000 };
  const [claimed] = (await claimMails(db, { holder, mails: 1, bytes: 1 })).mails;
  if (claimed === undefined) throw new Error('There is nothing to claim.');
  await failMails(db, holder, { mails: [{ ...claimed, tries: 10 }], error: 'The disk is full.' });
}

describe('plumbline inbox', () => {
  beforeEach(() => {
    program = aProgram({ COLUMNS: '200' });
  });

  test('lists mails with what became of them, and shows one', async () => {
    await withDb(async (db) => {
      await deliverMail(db, { envelope: { sender: 'a@reporter.example\u001b[31m' } });
      await deliverMail(db, { bytes: letter(text('Hello')) });
      await workAll(db);
      await deliverMail(db, { door: 'folder:/srv/drop', envelope: { place: '/srv/drop/a.xml' } });
    });
    const mails = await program.json('inbox', 'list');
    expect(mails).toMatchObject([
      { id: 'mail-3', state: 'waiting', door: 'folder:/srv/drop', place: '/srv/drop/a.xml' },
      { id: 'mail-2', state: 'done', result: 'ignored', counts: { ignored: 1 } },
      { id: 'mail-1', state: 'done', result: 'processed', counts: { unclaimed: 1 } },
    ]);
    expect(mails.filter(({ result }: { result: string }) => result === 'ignored')).toEqual(
      await program.json('inbox', 'list', '--result', 'ignored'),
    );
    expect(await program.json('inbox', 'list', '--state', 'done', '--limit', '1')).toHaveLength(1);
    const { stdout } = await program.run(['inbox', 'list']);
    expect(stdout).toContain('ignored: There is no report in it.');
    expect(stdout).not.toContain('\u001b');
    expect((await program.run(['inbox', 'show', 'mail-1'])).stdout).toContain(
      '1 unclaimed when read',
    );
    expect(await program.json('inbox', 'show', 'mail-2')).toEqual(mails[1]);
  });

  test('lists the doors, with what keeps them from working', async () => {
    await withDb(async (db) => {
      await noteDoor(db, 'smtp');
      await noteDoor(db, 'imap', 'There is no such host.\u001b');
    });
    const { stdout, status } = await program.run(['inbox', 'doors']);
    // IMAP has never worked.
    expect(stdout).toMatch(/imap +There is no such host\.\S*\n+smtp .* works/);
    expect(stdout).not.toContain('\u001b');
    expect(status).toBe(1);
    expect((await program.run(['inbox', 'doors', '--forget', 'imap'])).status).toBe(0);
    expect((await program.run(['inbox', 'doors', '--forget', 'imap'])).status).toBe(1);
  });

  test('says that doors can note nothing while the disk is full, and of one that says nothing', async () => {
    await withDb(async (db) => {
      await noteDoor(db, 'smtp');
      await db.write((tx) =>
        sql`create trigger full before insert on door_state
          begin select raise(abort, 'database or disk is full'); end`.execute(tx),
      );
    });
    const { stdout, status } = await program.run(['inbox', 'doors']);
    expect(stdout).toContain('the database cannot be written: database or disk is full');
    expect(status).toBe(1);
    await withDb(async (db) => {
      await db.write(async (tx) => {
        await sql`drop trigger full`.execute(tx);
        await tx.updateTable('door_state').set({ worked_at: '2026-01-01T00:00:00Z' }).execute();
      });
    });
    const silent = await program.run(['inbox', 'doors']);
    expect(silent.stdout).toContain('it has said nothing for a while');
    expect(silent.status).toBe(1);
  });

  test.each([
    [['inbox', 'show', 'mail-9'], 1, 'There is no mail-9'],
    [['inbox', 'show', '9'], 2, 'mail-<number>'],
    [['inbox', 'retry'], 2, 'Give mails, or --all.'],
    [['inbox', 'retry', 'mail-1', '--all'], 2, 'Give mails, or --all.'],
    [['inbox', 'drop', 'mail-1'], 1, 'done already'],
  ])('%j ends with status %i', async (args, status, message) => {
    await withDb(async (db) => {
      await deliverMail(db);
      await workAll(db);
      await deliverMail(db);
    });
    const ran = await program.run(args);
    expect([ran.status, ran.stderr]).toEqual([status, expect.stringContaining(message)]);
  });

  test('retries a mail that is stuck: it has all its tries again', async () => {
    await withDb(async (db) => {
      await deliverMail(db);
      await makeStuck(db);
    });
    const { stdout } = await program.run(['inbox', 'list', '--state', 'stuck']);
    expect(stdout).toContain('stuck: The disk is full.');
    expect(await program.json('inbox', 'retry', '--all')).toEqual([{ id: 'mail-1' }]);
    await withDb(async (db) => {
      expect(await listMailRows(db)).toMatchObject([{ state: 'waiting', tries: 0 }]);
      await workAll(db);
      expect(await listMailRows(db)).toMatchObject([{ state: 'done', result: 'processed' }]);
    });
  });

  test('drops a mail: its row stays, its bytes go', async () => {
    await withDb(async (db) => {
      await deliverMail(db, { bytes: Buffer.alloc(2_000_000) });
      await makeStuck(db);
    });
    expect((await program.run(['inbox', 'drop', 'mail-1'])).status).toBe(0);
    await withDb(async (db) => {
      expect(await listMailRows(db)).toMatchObject([{ state: 'done', result: 'dropped' }]);
      expect(await db.selectFrom('inbox_part').selectAll().execute()).toEqual([]);
    });
    const { status, stderr } = await program.run(['inbox', 'retry', 'mail-1']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('were not kept (dropped)')]);
  });

  test('reads a mail without a report again, and gives its bytes', async () => {
    const hello = letter(text('Hello'));
    await withDb(async (db) => {
      await deliverMail(db, { bytes: hello });
      await workAll(db);
    });
    expect(await program.json('inbox', 'retry', 'mail-1')).toEqual([{ id: 'mail-1' }]);
    await withDb(async (db) => {
      expect(await listMailRows(db)).toMatchObject([{ state: 'waiting', result: null }]);
      await workAll(db);
      expect(await listMailRows(db)).toMatchObject([{ state: 'done', result: 'ignored' }]);
    });
    const { stdout } = await program.run(['inbox', 'show', 'mail-1', '--original']);
    expect(stdout).toBe(hello.toString());
  });

  test('of a mail with a report, sound or broken, keeps the part that has it', async () => {
    const broken = aReportXml().slice(0, 400);
    await withDb(async (db) => {
      await deliverMail(db);
      await deliverMail(db, { bytes: mail(base64(broken)) });
      await workAll(db);
    });
    for (const args of [
      ['retry', 'mail-1'],
      ['show', 'mail-2', '--original'],
    ]) {
      const { status, stderr } = await program.run(['inbox', ...args]);
      expect([status, stderr]).toEqual([1, expect.stringContaining('plumbline document show')]);
    }
    const [{ id }] = await program.json('document', 'list');
    const { stdout } = await program.run(['document', 'show', id, '--original']);
    expect(stdout).toBe(broken);
  });
});

describe('plumbline account address', () => {
  test('shows the account’s own address, and makes a new one', async () => {
    program = aProgram({ PLUMBLINE_SMTP_NAME: 'Reports.Example.NET' });
    await program.json('account', 'create', 'A');
    const shown = await program.json('account', 'address', 'A');
    expect(shown.address).toMatch(/^[a-z0-9]{16}@reports\.example\.net$/);
    expect((await program.run(['account', 'address', 'A'])).stdout.trim()).toBe(shown.address);
    const made = await program.json('account', 'address', 'A', '--new');
    expect(made.address).not.toBe(shown.address);
    expect(await program.json('account', 'address', 'A')).toEqual(made);
    expect((await program.run(['account', 'address', 'B'])).status).toBe(1);
  });
});

describe('plumbline domain check', () => {
  const check = async (zone: Zone, env: NodeJS.ProcessEnv = {}) => {
    const { address } = await serveDns(zone);
    program = aProgram({
      PLUMBLINE_DNS_SERVERS: address,
      PLUMBLINE_REPORT_ADDRESS: 'dmarc@reports.example.net',
      ...env,
    });
    await program.json('account', 'create', 'A');
    await program.json('domain', 'add', 'A', 'example.com');
    const { status, stdout } = await program.run(['domain', 'check', 'example.com', '--json']);
    const { findings, ...rest } = JSON.parse(stdout);
    const short = findings.map((f: { check: string; ok: boolean }) => `${f.check} ${f.ok}`);
    const texts = findings.map(({ text: words }: { text: string }) => words).join('\n');
    return { status, short, texts, rest };
  };
  const RUA = [
    ['v=DMARC1; p=none; rua=mailto:other@example.org!10m,', 'mailto:DMARC@reports.example.net'],
  ];
  const RIGHT: Zone = {
    '_dmarc.example.com': RUA,
    'example.com._report._dmarc.reports.example.net': [['v=DMARC1;']],
    'reports.example.net': { mx: [{ priority: 10, exchange: 'mx.example.net' }] },
  };

  test('says that all is right, with status 0', async () => {
    const { status, short, texts, rest } = await check(RIGHT);
    expect(short).toEqual(['rua true', 'authorisation true', 'mx true']);
    expect([status, rest.ok, rest.last_report]).toEqual([0, true, null]);
    expect(texts).toContain('goes to mx.example.net.');
  });

  test('names the last mail that came for the domain', async () => {
    program = aProgram({
      PLUMBLINE_DNS_SERVERS: (await serveDns({})).address,
      PLUMBLINE_REPORT_ADDRESS: 'a@example.com',
    });
    await withDb(async (db) => {
      await aDomain(db, await aBareAccount(db), { name: 'example.com' });
      await receive(db, [aReport()]);
      await deliverMail(db);
      await workAll(db);
    });
    const { stdout, status } = await program.run(['domain', 'check', 'example.com']);
    expect(status).toBe(1);
    expect(stdout.replaceAll('\n', ' ')).toMatch(/The last report came in at .*, in mail-1 smtp/);
  });

  test.each<[string, Zone, string[], string]>([
    [
      'nothing is published',
      {},
      ['rua false', 'authorisation false', 'mx false'],
      'v=DMARC1; p=none; rua=mailto:dmarc@reports.example.net',
    ],
    [
      'the record has no rua',
      { ...RIGHT, '_dmarc.example.com': [['v=DMARC1; p=reject']] },
      ['rua false', 'authorisation true', 'mx true'],
      'has no rua tag',
    ],
    [
      'the record names another address',
      { ...RIGHT, '_dmarc.example.com': [['v=DMARC1; rua=mailto:x@example.org']] },
      ['rua false', 'authorisation true', 'mx true'],
      'names only x@example.org in its rua tag. Add to that tag, after a comma: mailto:dmarc@',
    ],
    [
      'the record names no mail address',
      { ...RIGHT, '_dmarc.example.com': [['v=DMARC1; RUA = https://example.org/']] },
      ['rua false', 'authorisation true', 'mx true'],
      'names no mail address in its rua tag',
    ],
    [
      'there are two records',
      { ...RIGHT, '_dmarc.example.com': [...RUA, ['v=DMARC1; p=none']] },
      ['rua false', 'authorisation true', 'mx true'],
      'several DMARC records',
    ],
    [
      'the authorisation is missing',
      { ...RIGHT, 'example.com._report._dmarc.reports.example.net': [['hello']] },
      ['rua true', 'authorisation false', 'mx true'],
      '*._report._dmarc.reports.example.net',
    ],
    [
      'the host has reports sent to another address of its own',
      {
        ...RIGHT,
        'example.com._report._dmarc.reports.example.net': [
          ['v=DMARC1; rua=mailto:old@reports.example.net,mailto:x@elsewhere.example'],
        ],
      },
      ['rua true', 'authorisation false', 'mx true'],
      'sent to old@reports.example.net instead, by the rua tag at example.com._report._dmarc.reports.example.net. Take',
    ],
    [
      'the host names an address of another host, which receivers ignore',
      {
        ...RIGHT,
        'example.com._report._dmarc.reports.example.net': [
          ['v=DMARC1; rua=mailto:x@elsewhere.example'],
        ],
      },
      ['rua true', 'authorisation true', 'mx true'],
      'reports.example.net takes reports about example.com',
    ],
    [
      'the host has only an address',
      { ...RIGHT, 'reports.example.net': { a: ['192.0.2.1'] } },
      ['rua true', 'authorisation true', 'mx true'],
      'goes to 192.0.2.1',
    ],
    [
      'the host takes no mail',
      { ...RIGHT, 'reports.example.net': { mx: [{ priority: 0, exchange: '' }] } },
      ['rua true', 'authorisation true', 'mx false'],
      'goes nowhere',
    ],
    [
      'no server answers',
      {
        '_dmarc.example.com': 'servfail',
        'example.com._report._dmarc.reports.example.net': 'servfail',
        'reports.example.net': 'servfail',
      },
      ['rua false', 'authorisation false', 'mx false'],
      'No DNS server answered',
    ],
  ])('says what is wrong when %s', async (_what, zone, wanted, words) => {
    const { short, texts, status } = await check(zone);
    expect(short).toEqual(wanted);
    expect(texts).toContain(words);
    expect(status).toBe(wanted.every((line) => line.endsWith('true')) ? 0 : 1);
  });

  test('needs no authorisation for an address under the domain’s own organisation', async () => {
    const { short } = await check({}, { PLUMBLINE_REPORT_ADDRESS: 'dmarc@mail.example.com' });
    expect(short).toEqual(['rua false', 'mx false']);
  });

  test.each([
    ['v=DMARC1; p=reject; sp=none', 'v=DMARC1; p=reject', 'sp=none at'],
    ['v=DMARC1; p=reject; sp=none; np=none', 'v=DMARC1; p=reject', 'sp=none and np=none at'],
    ['v=DMARC1; p=reject; sp=none; psd=n', 'v=DMARC1; p=reject', undefined],
    ['v=DMARC1; p=reject; sp=none', 'v=DMARC1; p=reject; psd=y', undefined],
    ['v=DMARC1; p=reject; sp=none', 'v=spf1 -all', undefined],
    ['v=DMARC1; p=reject', 'v=DMARC1; p=reject', undefined],
  ])('says of %s below %s which tags have no effect', async (own, above, wanted) => {
    const zone = { '_dmarc.mail.example.com': [[own]], '_dmarc.example.com': [[above]] };
    const { address } = await serveDns(zone);
    const addresses = ['a@mail.example.com'];
    const about = { domain: 'mail.example.com', addresses, mailHost: undefined };
    const [rua] = await checkReportRoute([address], about);
    const told = `${wanted} _dmarc.mail.example.com ha`;
    expect(rua?.text.includes('no effect: names below mail.example.com go by')).toBe(
      wanted !== undefined,
    );
    if (wanted !== undefined) expect(rua?.text).toContain(told);
  });

  test('knows the addresses of PLUMBLINE_SMTP_RECIPIENTS as ours', async () => {
    const env = { PLUMBLINE_SMTP_RECIPIENTS: 'a@mail.example.net, other@example.org' };
    const { texts, rest } = await check(RIGHT, { ...env, PLUMBLINE_REPORT_ADDRESS: '' });
    expect(rest.addresses).toEqual(['a@mail.example.net', 'other@example.org']);
    expect(texts).toContain('asks for reports to other@example.org');
  });

  test('ends at a time limit when no server answers', async () => {
    const { address } = await serveDns({ '_dmarc.example.com': 'silent', 'example.net': 'silent' });
    const about = { domain: 'example.com', addresses: ['a@example.net'], mailHost: undefined };
    const findings = await checkReportRoute([address], about, 50);
    expect(findings.map(({ text }) => text.slice(0, 23))).toEqual([
      ...Array.from({ length: 3 }, () => 'No DNS server answered '),
    ]);
  }, 2_500);

  test('knows the account’s own address', async () => {
    const env = { PLUMBLINE_REPORT_ADDRESS: '', PLUMBLINE_SMTP_NAME: 'reports.example.net' };
    const { rest } = await check({}, env);
    expect(rest.addresses).toEqual([expect.stringMatching(/^[a-z0-9]{16}@reports\.example\.net$/)]);
  });
});

test('a folder that is configured by a relative path is refused', async () => {
  program = aProgram({ PLUMBLINE_WATCH: 'drop' });
  writeFileSync(join(program.folder, 'x'), '');
  const { status, stderr } = await program.run(['account', 'list']);
  expect([status, stderr]).toEqual([
    2,
    expect.stringContaining('PLUMBLINE_WATCH: must be absolute'),
  ]);
});
