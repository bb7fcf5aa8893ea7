import { expect, test } from 'vitest';
import { evaluate } from '../../src/alerts/evaluate.ts';
import { findAlertText } from '../../src/domain/alerts/alert-texts.ts';
import { DEFAULT_THRESHOLDS } from '../../src/domain/alerts/thresholds.ts';
import { loadOrganizationalDomains } from '../../src/domain/dns/organizational-domain.ts';
import { findReporter, listClaimed } from '../../src/domain/reports/reporters.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { listAudit } from '../../src/store/events/audit.ts';
import type { DocumentSender } from '../../src/store/reports/senders.ts';
import {
  aBareAccount,
  aDomain,
  aReport,
  aReportOf,
  receive,
  recordsOf,
} from '../support/builders.ts';
import { aMailChannel } from '../support/mail-channel.ts';
import { aReceiver } from '../support/outbox.ts';
import { listMiscounts } from '../support/recount.ts';
import { aStore } from '../support/store.ts';
import { aPerson } from '../support/visitor.ts';

/* What somebody can do who can only send mail. Each attack is one that worked, or could have. */

const GENUINE: DocumentSender = { authenticated: 'provider.example' };
const STRANGER: DocumentSender = { authenticated: '', claimed: ['stranger.example'] };
/** In the name of the reporter whose mails are authenticated. */
const FORGER: DocumentSender = { authenticated: '', claimed: ['provider.example'] };
/** Signs with a domain of their own, as anybody can. */
const NEWCOMER: DocumentSender = { authenticated: 'newcomer.example' };

const TODAY = 20;
const day = (number: number) => `2026-03-${String(number).padStart(2, '0')}`;
const at = (number: number, hour = 12) => `${day(number)}T${String(hour).padStart(2, '0')}:00:00Z`;

interface Said {
  readonly messages?: number;
  readonly failed?: number;
  readonly from?: string;
}

async function aWorld(unauthenticated: 'on' | 'off' = 'on') {
  const store = await aStore();
  const { db } = store;
  const accountId = await aBareAccount(db);
  const { id: domainId, name: domain } = await aDomain(db, accountId);
  let now = at(TODAY, 23);
  let count = 0;
  const say = async (
    sender: DocumentSender,
    number: number,
    { messages = 500, failed = 0, from = '192.0.2.1' }: Said = {},
  ) => {
    const wanted = { domain, begin: `${day(number)}T00:00:00Z`, reportId: `r${++count}` };
    const report = aReportOf(recordsOf(from, messages, messages - failed), wanted);
    await receive(db, [report], at(number), sender);
  };
  const known = { account_id: accountId, authenticated_at: '2026-01-01T00:00:00Z' };
  const established = { ...known, name: 'provider.example' };
  await db.write((tx) => tx.insertInto('reporter').values(established).execute());
  const thresholds = { ...DEFAULT_THRESHOLDS, unauthenticated };
  const alerts = async () => {
    await evaluate({ store, thresholds, now: () => new Date(now) }, [domainId]);
    const rows = await db.selectFrom('alert').selectAll().orderBy('seq').execute();
    expect(await listMiscounts(db)).toEqual({});
    return rows.map(({ type, resolved_at, context }) => {
      const isDoubtful = JSON.parse(context).unauthenticated === true;
      const state = resolved_at === null ? 'open' : 'resolved';
      return `${type.slice(6)} ${state}${isDoubtful ? ', unauthenticated' : ''}`;
    });
  };
  for (let number = 1; number < TODAY; number += 1) await say(GENUINE, number);
  return {
    ...{ store, db, accountId, domainId, domain, say, alerts },
    setNow: (instant: string) => {
      now = instant;
    },
  };
}

const REGRESSION = 'alignment_regression open';

/** An owner whom a real mail server tells; gives the subjects that came since it was asked last. */
async function withMail({ store, db, accountId }: Pick<World, 'store' | 'db' | 'accountId'>) {
  const mail = await aMailChannel(store);
  await aPerson({ db }, accountId, 'owner@example.com');
  return async () => {
    await mail.deliver();
    return mail.takeSubjects('owner@example.com');
  };
}

type World = Awaited<ReturnType<typeof aWorld>>;

test('a forged report in the name of a reporter that authenticates fires nothing', async () => {
  const { say, alerts, db } = await aWorld();
  await say(GENUINE, TODAY);
  await say(FORGER, TODAY, { messages: 100_000, failed: 100_000, from: '198.51.100.7' });
  expect(await alerts()).toEqual([]);
  const disputed = db.selectFrom('report').select('id').where('doubt', '=', 'disputed');
  expect(await disputed.execute()).toHaveLength(1);
});

test.each([
  ['a stranger', STRANGER],
  ['a new reporter', NEWCOMER],
])('a report by %s fires, and the alert says that nobody else says so', async (_name, sender) => {
  const { say, alerts, db } = await aWorld();
  await say(GENUINE, TODAY);
  await say(sender, TODAY, { messages: 1_000, failed: 1_000, from: '198.51.100.7' });
  expect(await alerts()).toEqual([
    `${REGRESSION}, unauthenticated`,
    'new_failing_source open, unauthenticated',
  ]);
  const { type, context } = await db
    .selectFrom('alert')
    .select(['type', 'context'])
    .limit(1)
    .executeTakeFirstOrThrow();
  expect(findAlertText(type).describe(JSON.parse(context))).toContain('anybody can send such');
});

test.each([
  ['a stranger', STRANGER],
  ['a new reporter', NEWCOMER],
])('it does not where the operator does not want that, by %s', async (_name, sender) => {
  const { say, alerts } = await aWorld('off');
  await say(GENUINE, TODAY);
  await say(sender, TODAY, { messages: 1_000, failed: 1_000, from: '198.51.100.7' });
  expect(await alerts()).toEqual([]);
});

test.each([
  ['a stranger', STRANGER],
  ['a forger', FORGER],
  ['a new reporter', NEWCOMER],
])('10⁹ messages that passed, by %s, do not hide a regression', async (_name, sender) => {
  const { say, alerts } = await aWorld();
  await say(sender, TODAY, { messages: 1e9 });
  await say(GENUINE, TODAY, { failed: 400 });
  await say(sender, TODAY, { messages: 1e9 });
  expect(await alerts()).toEqual([REGRESSION]);
});

test.each([
  ['a stranger', STRANGER],
  ['a forger', FORGER],
  ['a new reporter', NEWCOMER],
])('nor resolve it on a later day, by %s; genuine reports do', async (_name, sender) => {
  const { say, alerts, setNow } = await aWorld();
  await say(GENUINE, TODAY, { failed: 400 });
  expect(await alerts()).toEqual([REGRESSION]);
  await say(GENUINE, TODAY + 1, { failed: 400 });
  await say(sender, TODAY + 1, { messages: 1e9 });
  await say(sender, TODAY + 2, { messages: 1e9 });
  setNow(at(TODAY + 2, 23));
  expect(await alerts()).toEqual([REGRESSION]);
  await say(GENUINE, TODAY + 2);
  expect(await alerts()).toEqual(['alignment_regression resolved']);
});

test.each([
  ['a stranger', STRANGER],
  ['a forger', FORGER],
  ['a new reporter', NEWCOMER],
])(
  'mails each day by %s do not hide that genuine reports stopped, and do not resolve it',
  async (_name, sender) => {
    const { say, alerts, setNow } = await aWorld();
    for (let number = TODAY; number < TODAY + 4; number += 1) await say(sender, number);
    setNow(at(TODAY + 3, 13));
    expect(await alerts()).toEqual(['reports_missing open']);
    await say(sender, TODAY + 4);
    setNow(at(TODAY + 4, 13));
    expect(await alerts()).toEqual(['reports_missing open']);
    await say(GENUINE, TODAY + 4);
    expect(await alerts()).toEqual(['reports_missing resolved']);
  },
);

test('an address that a stranger named weeks ago is new all the same when genuine reports name it', async () => {
  const { say, alerts } = await aWorld();
  await say(STRANGER, 5, { from: '198.51.100.7' });
  await say(NEWCOMER, 5, { from: '198.51.100.7' });
  await say(FORGER, 6, { from: '198.51.100.7' });
  await say(GENUINE, TODAY);
  await say(GENUINE, TODAY, { messages: 30, failed: 30, from: '198.51.100.7' });
  expect(await alerts()).toEqual(['new_failing_source open']);
});

test('thousands of addresses by a stranger do not push out the one that genuine reports name', async () => {
  const { say, alerts, db, domain } = await aWorld();
  await say(GENUINE, TODAY);
  const flood = Array.from({ length: 3_000 }, (_, i) =>
    recordsOf(`2001:db8::${i.toString(16)}`, 1_000, 1_000),
  );
  const wanted = { domain, begin: `${day(TODAY)}T00:00:00Z` };
  await receive(db, [aReportOf(flood.flat(), wanted)], at(TODAY), STRANGER);
  await say(GENUINE, TODAY, { messages: 30, failed: 30, from: '198.51.100.7' });
  expect(await alerts()).toEqual(['new_failing_source open']);
});

test('a report that comes first by a mail of somebody else gives way to the genuine one', async () => {
  const { db, domain, accountId } = await aWorld();
  const one = { domain, reportId: 'same', begin: `${day(TODAY)}T00:00:00Z` };
  const forged = aReport({ ...one, payload: 'forged', totalMessages: 9, alignedMessages: 9 });
  const genuine = aReport({ ...one, payload: 'genuine', totalMessages: 3, alignedMessages: 0 });
  for (const sender of [STRANGER, FORGER, NEWCOMER]) {
    const renamed = { ...one, reportId: `same ${sender.claimed ?? sender.authenticated}` };
    const [first, second] = [forged, genuine].map(({ payloadSha256, tally }) =>
      aReport({ ...renamed, ...tally, payload: payloadSha256 }),
    );
    expect(await receive(db, [first as typeof forged], at(TODAY), sender)).toEqual(['stored']);
    expect(await receive(db, [second as typeof forged], at(TODAY), GENUINE)).toEqual(['conflict']);
  }
  const reports = db.selectFrom('report').select(['total_messages', 'authenticated']);
  expect(await reports.where('report_id', 'like', 'same%').execute()).toEqual([
    { total_messages: 3, authenticated: 'provider.example' },
    { total_messages: 3, authenticated: 'provider.example' },
    { total_messages: 3, authenticated: 'provider.example' },
  ]);
  expect(await listMiscounts(db)).toEqual({});
  const [entry] = await listAudit(db, accountId, { limit: 1 });
  expect(entry).toMatchObject({ action: 'report_replaced', actor: 'plumbline', subject: domain });
});

test('it gives way also when strangers have sent as many other contents of it as are kept', async () => {
  const { db, domain } = await aWorld();
  const one = { domain, reportId: 'same', begin: `${day(TODAY)}T00:00:00Z` };
  for (let i = 0; i < 15; i += 1)
    await receive(db, [aReport({ ...one, payload: `forged ${i}` })], at(TODAY), STRANGER);
  for (let i = 0; i < 25; i += 1)
    await receive(db, [aReport({ ...one, payload: `signed ${i}` })], at(TODAY), NEWCOMER);
  const genuine = aReport({ ...one, payload: 'genuine', totalMessages: 3, alignedMessages: 0 });
  await receive(db, [genuine], at(TODAY), GENUINE);
  await receive(db, [aReport({ ...one, payload: 'forged again' })], at(TODAY), STRANGER);
  const reports = db.selectFrom('report').select(['total_messages', 'authenticated']);
  expect(await reports.where('report_id', '=', 'same').execute()).toEqual([
    { total_messages: 3, authenticated: 'provider.example' },
  ]);
  expect(await db.selectFrom('conflict').select('seq').execute()).toHaveLength(21);
  expect(await listMiscounts(db)).toEqual({});
});

test('it does not give way to another that nobody authenticated, or when it is authenticated itself', async () => {
  const { db, domain } = await aWorld();
  const one = { domain, reportId: 'same', begin: `${day(TODAY)}T00:00:00Z` };
  await receive(db, [aReport({ ...one, payload: 'genuine' })], at(TODAY), GENUINE);
  const other = { authenticated: 'other.example' };
  for (const sender of [STRANGER, FORGER, other])
    await receive(db, [aReport({ ...one, payload: `${sender.authenticated}` })], at(TODAY), sender);
  const stored = db.selectFrom('report').select('authenticated').where('report_id', '=', 'same');
  expect(await stored.execute()).toEqual([{ authenticated: 'provider.example' }]);
});

test('the same content by an authenticated mail makes the report authenticated', async () => {
  const { db, domain, alerts, accountId } = await aWorld();
  const report = aReportOf(recordsOf('192.0.2.1', 500, 0), {
    domain,
    begin: `${day(TODAY)}T00:00:00Z`,
  });
  await receive(db, [report], at(TODAY), STRANGER);
  expect(await alerts()).toEqual([`${REGRESSION}, unauthenticated`]);
  expect(await receive(db, [report], at(TODAY), GENUINE)).toEqual(['duplicate']);
  expect(await alerts()).toEqual([REGRESSION]);
  const [entry] = await listAudit(db, accountId, { limit: 1 });
  expect(entry).toMatchObject({ action: 'report_authenticated' });
});

test('whoever names a reporter, by any of its names or a name below its domain, claims to be it', async () => {
  const toOrganizationalDomain = await loadOrganizationalDomains();
  const claimed = (orgName: string | null, email: string | null) =>
    listClaimed({ orgName, email }, toOrganizationalDomain);
  expect(claimed('Google Inc.', 'a@stranger.example')).toContain('google.com');
  expect(claimed(' GOOGLE.COM ', null)).toContain('google.com');
  expect(claimed('provider.example', null)).toEqual(['provider.example']);
  expect(claimed('Somebody', 'a@reports.provider.example')).toEqual(['provider.example']);
  expect(claimed('mail.provider.example', 'a@other.example')).toEqual([
    'provider.example',
    'other.example',
  ]);
  expect(claimed(null, null)).toEqual([]);
});

test('a reporter is new for two weeks after its first authenticated mail; a big one never', async () => {
  const { say, db } = await aWorld();
  const listSenders = async () => {
    const reports = db.selectFrom('report').select(['authenticated', 'doubt']).orderBy('seq');
    const rows = await reports.where('authenticated', '<>', 'provider.example').execute();
    return rows.map(({ authenticated, doubt }) => [authenticated, doubt]);
  };
  await say({ authenticated: 'google.com' }, 1);
  for (const number of [1, 14]) await say(NEWCOMER, number);
  const [big, isNew] = [
    ['google.com', null],
    ['newcomer.example', 'new'],
  ];
  expect(await listSenders()).toEqual([big, isNew, isNew]);
  await say(NEWCOMER, 15);
  await say({ authenticated: 'google.com' }, 15);
  expect(await listSenders()).toEqual([big, ...Array(3).fill(['newcomer.example', null]), big]);
  expect(await listMiscounts(db)).toEqual({});
});

test('who has an address at a big reporter’s is not that reporter, and nobody else has its name', async () => {
  const toOrganizationalDomain = await loadOrganizationalDomains();
  const find = (from: string, orgName: string, email = 'a@newcomer.example') =>
    findReporter(from, { orgName, email }, toOrganizationalDomain);
  expect(find('a@yahoo.com', 'Somebody', 'a@yahoo.com')).toBeUndefined();
  expect(find('a@gmail.com', 'gmail.com', 'a@gmail.com')).toBeUndefined();
  expect(find('calendar-notification@google.com', 'google.com')).toBeUndefined();
  expect(find('calendar-notification@google.com', 'Somebody')).toBeUndefined();
  expect(find('dmarc@newcomer.example', 'Google Inc.')).toBeUndefined();
  expect(find('dmarc@newcomer.example', 'mail.google.com')).toBeUndefined();
  expect(find('noreply-dmarc-support@google.com', 'google.com')).toBe('google.com');
  expect(find('noreply@dmarc.yahoo.com', 'Yahoo', 'dmarc@yahooinc.com')).toBe('yahoo.com');
});

test('a reporter is who signed, and its contact is a contact', async () => {
  const toOrganizationalDomain = await loadOrganizationalDomains();
  const find = (from: string, email: string) =>
    findReporter(from, { orgName: 'Somebody', email }, toOrganizationalDomain);
  for (const contact of [
    'a@newcomer.example',
    'somebody@gmail.com',
    'a@yahoo.com',
    'a@other.example',
  ])
    expect(find('dmarc@mail.newcomer.example', contact)).toBe('newcomer.example');
  // Anybody has an address there.
  expect(find('somebody@gmail.com', 'somebody@gmail.com')).toBe('somebody@gmail.com');
  expect(
    listClaimed({ orgName: 'Somebody', email: 'Somebody@gmail.com' }, toOrganizationalDomain),
  ).toEqual(['somebody@gmail.com']);
});

test('a report in the name of a reporter that authenticates is disputed, whoever else signed it', async () => {
  const { say, alerts, db, accountId } = await aWorld();
  await say(GENUINE, TODAY);
  const impostor = { authenticated: 'newcomer.example', claimed: ['provider.example'] };
  await say(impostor, TODAY, { messages: 100_000, failed: 100_000, from: '198.51.100.7' });
  await say({ ...GENUINE, claimed: ['provider.example'] }, TODAY);
  expect(await alerts()).toEqual([]);
  const reports = db.selectFrom('report').select(['authenticated', 'doubt']);
  const counted = await reports.orderBy('seq').execute();
  expect(counted.slice(-2)).toEqual([
    { authenticated: 'newcomer.example', doubt: 'disputed' },
    { authenticated: 'provider.example', doubt: null },
  ]);
  // Its two weeks have not begun.
  expect(await listTold(db, accountId)).toEqual([]);
});

const listTold = async (db: Db, accountId: string) =>
  (await listAudit(db, accountId, { limit: 100 }))
    .filter(({ action }) => action === 'reporter_new')
    .map(({ subject, detail }) => [subject, detail]);

test('a reporter’s two weeks begin with its first report about a domain of an account, which is told once', async () => {
  const { say, db, accountId, domain } = await aWorld();
  const foreign = aReportOf(recordsOf('192.0.2.1', 1, 1), { domain: 'nobody.example' });
  await receive(db, [foreign], at(1), NEWCOMER);
  expect(await listTold(db, accountId)).toEqual([]);
  for (const number of [16, 17, 18]) await say(NEWCOMER, number);
  await say({ authenticated: 'google.com' }, 18);
  expect(await listTold(db, accountId)).toEqual([['newcomer.example', domain]]);
  const reports = db.selectFrom('report').select('doubt').orderBy('seq');
  const rows = await reports.where('authenticated', '=', 'newcomer.example').execute();
  expect(rows).toEqual(Array(4).fill({ doubt: 'new' }));
});

const MANY = { messages: 1_000, failed: 1_000, from: '192.0.2.1' };

test('an alert that nobody established says is a webhook and no mail, neither when it fires nor when it resolves', async () => {
  const world = await aWorld();
  const { say, alerts, db, accountId, setNow } = world;
  const mails = await withMail(world);
  await aReceiver(db, accountId, { types: ['alert.fired', 'alert.resolved'] });
  await say(GENUINE, TODAY);
  await say(STRANGER, TODAY, MANY);
  expect(await alerts()).toEqual([`${REGRESSION}, unauthenticated`]);
  await say(GENUINE, TODAY + 1);
  setNow(at(TODAY + 1, 23));
  expect(await alerts()).toEqual(['alignment_regression resolved, unauthenticated']);
  expect(await mails()).toEqual([]);
  const events = await db.selectFrom('event').select('type').orderBy('seq').execute();
  expect(events.map(({ type }) => type)).toEqual(['alert.fired', 'alert.resolved']);
});

test('a forged alert that came first does not take the mail of what established reporters say later, which comes once', async () => {
  const world = await aWorld();
  const { say, alerts, domain, setNow } = world;
  const mails = await withMail(world);
  await say(NEWCOMER, TODAY, { ...MANY, from: '198.51.100.7' });
  await alerts();
  const told = `A new reporter sends reports about ${domain}: newcomer.example`;
  expect(await mails()).toEqual([told]);
  await say(GENUINE, TODAY, { failed: 500, from: '198.51.100.7' });
  const both = await Promise.all([alerts(), alerts()]);
  expect(both[0]).toEqual([REGRESSION, 'new_failing_source open']);
  const fell = `198.51.100.7 fails on ${domain}`;
  expect((await mails()).sort()).toEqual([fell, `New failing source on ${domain}`]);
  await say(STRANGER, TODAY, MANY);
  await alerts();
  expect(await mails()).toEqual([]);
  await say(GENUINE, TODAY + 1);
  setNow(at(TODAY + 1, 23));
  await alerts();
  expect(await mails()).toEqual([`Re: ${fell}`]);
});

test('a forged regression of an earlier day does not keep the genuine one from firing', async () => {
  const world = await aWorld();
  const { say, alerts, setNow } = world;
  const mails = await withMail(world);
  await say(GENUINE, TODAY);
  await say(STRANGER, TODAY, MANY);
  expect(await alerts()).toEqual([`${REGRESSION}, unauthenticated`]);
  await say(GENUINE, TODAY + 1, { failed: 400 });
  await say(STRANGER, TODAY + 1, MANY);
  setNow(at(TODAY + 1, 23));
  const wanted = ['alignment_regression resolved, unauthenticated', REGRESSION];
  expect(await alerts()).toEqual(wanted);
  expect(await alerts()).toEqual(wanted);
  expect(await mails()).toHaveLength(1);
});

test('a domain without an established reporter is told of its alerts, and they say who reports them', async () => {
  const world = await aWorld();
  const { db, accountId, setNow } = world;
  const mails = await withMail(world);
  const { id, name } = await aDomain(db, accountId);
  const begin = (number: number) => `${day(number)}T00:00:00Z`;
  for (let number = 1; number <= TODAY; number += 1) {
    const records = recordsOf('192.0.2.1', 500, number === TODAY ? 0 : 500);
    await receive(
      db,
      [aReportOf(records, { domain: name, begin: begin(number) })],
      at(number),
      STRANGER,
    );
  }
  setNow(at(TODAY, 23));
  const now = () => new Date(at(TODAY, 23));
  await evaluate({ store: world.store, thresholds: DEFAULT_THRESHOLDS, now }, [id]);
  expect(await mails()).toHaveLength(1);
  const rows = db.selectFrom('alert').select('context').where('domain_id', '=', id);
  const { context } = await rows.executeTakeFirstOrThrow();
  expect(JSON.parse(context)).toMatchObject({ unauthenticated: true });
  expect(JSON.parse(context)).not.toHaveProperty('unconfirmed');
});

test('a backfill sends no mail of an alert that fires and resolves in one evaluation, and its webhooks', async () => {
  const world = await aWorld();
  const { say, alerts, db, accountId, setNow } = world;
  const mails = await withMail(world);
  await aReceiver(db, accountId, { types: ['alert.fired', 'alert.resolved'] });
  await say(GENUINE, TODAY, { failed: 400 });
  await say(GENUINE, TODAY + 1);
  setNow(at(TODAY + 1, 23));
  expect(await alerts()).toEqual(['alignment_regression resolved']);
  expect(await mails()).toEqual([]);
  const events = await db.selectFrom('event').select('type').orderBy('seq').execute();
  expect(events.map(({ type }) => type)).toEqual(['alert.fired', 'alert.resolved']);
});

test('people who were told of an alert are told that it resolved, though strangers alone made it last', async () => {
  const world = await aWorld();
  const { say, alerts, domain, setNow } = world;
  const mails = await withMail(world);
  await say(GENUINE, TODAY, { failed: 400 });
  await alerts();
  await say(GENUINE, TODAY + 1);
  await say(STRANGER, TODAY + 1, MANY);
  setNow(at(TODAY + 1, 23));
  expect(await alerts()).toEqual([`${REGRESSION}, unauthenticated`]);
  await say(GENUINE, TODAY + 2);
  setNow(at(TODAY + 2, 23));
  expect(await alerts()).toEqual(['alignment_regression resolved, unauthenticated']);
  const fell = `192.0.2.1 fails on ${domain}`;
  expect(await mails()).toEqual([fell, `Re: ${fell}`]);
});
