import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import type { components } from '../../generated/v1.d.ts';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { addDays } from '../../src/domain/instant.ts';
import type { ReportRecord } from '../../src/domain/reports/aggregate-report.ts';
import { listWork } from '../../src/jobs/mail.ts';
import { createDaysReads } from '../../src/judging/reads.ts';
import { STANDING_NAMES, STANDINGS } from '../../src/settings/pages/readiness-view.ts';
import { updateDnsRecord } from '../../src/store/alerts/dns-records.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import { updateSendsNoMail } from '../../src/store/domains/domains.ts';
import { type Api, walk } from '../support/api.ts';
import {
  aDomain,
  aKey,
  anAlert,
  aRecord,
  aReportOf,
  aSignature,
  NOW,
  receive,
} from '../support/builders.ts';
import { caseCount } from '../support/counts.ts';
import { type Browser, onTestDay, toReadable } from '../support/visitor.ts';

/*
 * Whoever shows a domain tells the same of it: the overview, its page, the lists of senders and of addresses, their pages,
 * files, the weekly mail and the API.
 */

let api: Api;
let accountId: string;
let browser: Browser;
let key: string;

beforeEach(async () => {
  ({ api, accountId, browser } = await onTestDay());
  ({ key } = await aKey(api.db, accountId));
});

const aBroken = (domain: string) => aSignature({ domain, result: 'fail' });
const aService = aSignature({ domain: 'sendgrid.net', result: 'pass' });

/** What a source of some kind sends on a day. None of it passes but of `own`. */
const KINDS = {
  own: (count: number) => ({ count, spf: 'pass' as const }),
  forger: (count: number) => ({
    ...failing(count),
    spfDomain: 'forger.example',
    spfResult: 'pass',
  }),
  forwarder: (count: number, domain: string) => ({
    ...{ ...failing(count), spfDomain: 'list.example.net', spfResult: 'pass' },
    signatures: [aBroken(domain)],
    reasons: [{ type: 'forwarded', comment: null }],
  }),
  service: (count: number) => ({ ...failing(count), signatures: [aService] }),
  /** It signs for the owner, by a key that does not verify. */
  brokenService: (count: number, domain: string) => ({
    ...{ ...failing(count), spfDomain: 'em.sendgrid.net', spfResult: 'pass' },
    signatures: [aService, aBroken(domain)],
  }),
  brokenKey: (count: number, domain: string) => ({
    ...{ ...failing(count), spfDomain: domain, spfResult: 'softfail' },
    signatures: [aBroken(domain)],
  }),
  forgotten: failing,
  refused: (count: number, domain: string) => ({
    ...{ ...failing(count), spfDomain: domain, spfResult: 'fail' },
  }),
  below: (count: number, domain: string) => ({
    ...{ ...failing(count), headerFrom: `shop.${domain}` },
    ...{ spfDomain: `shop.${domain}`, spfResult: 'fail' },
  }),
  /** A forwarder that leaves the signature whole. */
  carried: (count: number, domain: string) => ({
    ...{ ...failing(count), dkim: 'pass' as const, spfDomain: domain, spfResult: 'softfail' },
    signatures: [aSignature({ domain, result: 'pass' })],
  }),
} as const;

function failing(count: number) {
  return { count, spf: 'fail' as const, dkim: 'fail' as const };
}

const KIND_NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];
const POLICIES = ['none', 'quarantine', 'reject'] as const;
const MARKS = [null, null, null, 'unknown', 'legitimate'] as const;

const aSource = fc.record({
  /** Several of them may send from one address. */
  at: fc.integer({ min: 1, max: 7 }),
  kind: fc.constantFrom(...KIND_NAMES),
  count: fc.constantFrom(1, 3, 20),
  /** On every day, or on the last one. */
  isRare: fc.boolean(),
  mark: fc.constantFrom(...MARKS),
});

const aMadeUpDomain = fc.record({
  policy: fc.constantFrom(...POLICIES),
  sp: fc.constantFrom(null, null, 'none', 'reject'),
  pct: fc.constantFrom(null, null, null, 50),
  record: fc.constantFrom(
    ...[undefined, undefined, undefined, null, 'v=DMARC1; p=none\nv=DMARC1; p=reject'],
    'v=DMARC1; p=none; sp=none; rua=mailto:reports@example.com',
  ),
  days: fc.constantFrom(30, 30, 40, 20, 95),
  /** How many days ago the newest report begins. */
  lag: fc.constantFrom(1, 1, 2, 6, 9, 50),
  legitimate: fc.constantFrom(0, 5, 30, 35, 500),
  sources: fc.array(aSource, { maxLength: 5 }),
  /** Addresses of as many networks, with a message each on the last day. */
  scattered: fc.constantFrom(0, 0, 4, 25),
  /** Of a service, a domain, and of all scattered addresses. */
  marks: fc.tuple(
    ...['service Twilio SendGrid', 'domain forger.example', 'scattered'].map(() =>
      fc.constantFrom(...MARKS),
    ),
  ),
  sendsNoMail: fc.constantFrom(false, false, false, true),
  hasAlert: fc.constantFrom(false, false, false, false, true),
  /** Messages of reports of nobody who is established. */
  aside: fc.array(fc.constantFrom(1, 1_100_000), { maxLength: 2 }),
});

type MadeUp = typeof aMadeUpDomain extends fc.Arbitrary<infer Domain> ? Domain : never;

const BY = { accountId: '', name: 'somebody', at: NOW, address: null };
const SENDERS = ['service Twilio SendGrid', 'domain forger.example', 'scattered'] as const;

async function build(name: string, madeUp: MadeUp): Promise<string> {
  const { id } = await aDomain(api.db, accountId, { name });
  const { policy: p, sp, pct, days, lag, sources, marks } = madeUp;
  const reports = Array.from({ length: days }, (_, i) => {
    const begin = `${addDays('2026-03-15', -lag - i)}T00:00:00Z`;
    const records = toRecords(madeUp, name, i === 0);
    return aReportOf(records, { domain: name, begin, policy: { p, sp, pct } });
  });
  await receive(api.db, reports);
  const by = { ...BY, accountId };
  const marked = [
    ...sources.map(({ at, mark }) => ({ subject: toAddress(at), mark })),
    ...SENDERS.map((subject, i) => ({ subject, mark: marks[i] ?? null })),
  ];
  for (const one of marked) await updateMark(api.db, { domainId: id, ...one }, by);
  if (madeUp.sendsNoMail) await updateSendsNoMail(api.db, { domainId: id, sendsNoMail: true }, by);
  if (madeUp.hasAlert) await anAlert(api.db, { accountId, domainId: id });
  const { record: value } = madeUp;
  if (value !== undefined)
    await updateDnsRecord(api.db, {
      ...{ domainId: id, at: NOW, type: 'dmarc' },
      update: () => ({ ...UNKNOWN_RECORD, confirmed: { value } }),
    });
  return id;
}

const toAddress = (at: number) => `203.0.113.${at}`;

function toRecords(madeUp: MadeUp, name: string, isLast: boolean): ReportRecord[] {
  const { legitimate, sources, scattered } = madeUp;
  const others = sources
    .filter(({ isRare }) => isLast || !isRare)
    .map(({ at, kind, count }) => {
      const sent = { headerFrom: name, ...KINDS[kind](count, name) };
      return aRecord({ sourceIp: toAddress(at), ...sent });
    });
  const bots = Array.from({ length: isLast ? scattered : 0 }, (_, i) =>
    aRecord({ sourceIp: `198.18.${i}.7`, headerFrom: name, ...KINDS.refused(1, name) }),
  );
  const own = aRecord({ sourceIp: '192.0.2.1', headerFrom: name, ...KINDS.own(legitimate) });
  return [...(legitimate > 0 ? [own] : []), ...others, ...bots];
}

const toNumber = (text: string) => Number(text.replaceAll(',', ''));
const toPath = (text: string) => text.replaceAll('&amp;', '&');
const get = async (path: string) => (await browser.get(path)).text;

const STEP = /<td role="cell" class="step">(.*?)(?:<p class="muted">|<\/td>)/s;
const OWN_STEP = /<h2 id="next">[^<]*<\/h2>\s*<p>(.*?)<\/p>/s;
const findText = (pattern: RegExp, text: string) =>
  toReadable(pattern.exec(text)?.[1] ?? '').trim();

/** The next step of a domain on the overview, on its page, and in the weekly mail. */
async function readSteps(id: string, name: string) {
  const overview = findText(STEP, await get(`/settings/overview?q=${name}`));
  const page = findText(OWN_STEP, await get(`/settings/domains/${id}`));
  const days = createDaysReads(api.store, {
    now: () => new Date(),
    logError: () => expect.unreachable(),
  });
  const { domains } = await listWork({ store: api.store, days }, accountId, 1_000);
  const mail = domains.find((one) => one.id === id)?.step ?? 'none';
  // The mail has no link.
  return { overview, page, mail: page.startsWith(mail) ? page : mail };
}

const ANSWER =
  /Can I go to p=reject\? (?:For the domain itself, not for its subdomains .*?\. )?(It is there|Yes, if|Yes|Not yet)\b/;
const ROW =
  /<th role="rowheader" scope="row">([^<]+) <small>[^<]*; ([\d,]+) sources?<\/small><\/th>\s*<td[^>]*>([\d,]+)<\/td>\s*<td[^>]*>[^<]*<\/td>\s*<td[^>]*>([\d,]+)</g;
/** In the answer, and in the next step. */
const LINK = /([\d,]+) messages? from ([\d,]+) sources? [^<]*<a href="([^"]*standing=[^"]*)"/g;
const STOPPED =
  /<a href="([^"]+)">(?:<bdi>)?([^<]+)(?:<\/bdi>)?<\/a> <span class="badge \w*">([^<]+)<\/span>(?: <small>([\d,]+) sources<\/small>)?<\/th>\s*<td role="cell" class="number" data-label="Would be stopped">([\d,]+)</g;

async function readDomainPage(id: string) {
  const text = await get(`/settings/domains/${id}`);
  const rows = [...text.matchAll(ROW)]
    .map(([, label = '', ...counts]) => [label, counts.map(toNumber)] as const)
    .filter(([, [sources]]) => sources !== 0);
  const links = [...text.matchAll(LINK)].map(([, failed = '', sources = '', path = '']) => {
    return { counts: [toNumber(sources), toNumber(failed)], path: toPath(path) };
  });
  const stopped = [...text.matchAll(STOPPED)].map(
    ([, path = '', title = '', verdict = '', sources = '1', failed = '']) => ({
      ...{ path: toPath(path), title, verdict },
      ...{ sources: toNumber(sources), failed: toNumber(failed) },
    }),
  );
  const [, answer = ''] = ANSWER.exec(toReadable(text)) ?? [];
  return { answer, rows, links, stopped };
}

/** What the answer is beside a step, by what the step says first. Beside an alert it is any. */
const ANSWERS: readonly (readonly [step: RegExp, answer: RegExp])[] = [
  [/ if .* are not yours/, /^Yes, if$/],
  // A few messages of strangers are named in the answer alone.
  [/^(All|[\d,]+ of|The one message) .* of your senders passed in 30 days/, /^Yes/],
  [/^No mail of yours failed in 30 days/, /^Yes/],
  [/^Subdomains /, /^(Yes|It is there)/],
  [/ Receivers (delivered|held back|rejected|did not say)/, /^It is there$/],
  [/ passed by SPF alone in 30 days/, /^(Not yet|It is there)$/],
  [
    / (is|are) yours(,| by its name)| stopped passing on | sends mail of this domain as itself| is a private address| authenticates mail of this one| signs as /,
    /^Not yet$/,
  ],
  [/^Do you know |that may be yours failed in 30 days/, /^Not yet$/],
  [/ of yours that others passed on would be stopped/, /^Not yet$/],
  // It is there for the names that mail has; subdomains, which no mail names, are for later.
  [
    /^(Wait for more reports|With so little mail|No mail of the domain passed)/,
    /^(Not yet|It is there)$/,
  ],
  [/^No report covers a day after/, /^(Not yet|It is there)$/],
  [/^Nothing to do/, /^It is there$/],
  [/^The domain sends no mail, so/, /^(Yes|It is there)$/],
  [/^The domain is said to send no mail/, /./],
  [/^(A sharp|Look|DNS has|The pass rate)/, /./],
];

/** A row of a list. */
interface Listed {
  readonly title: string;
  readonly verdict: string;
  /** Messages, passed, failed. */
  readonly counts: readonly number[];
}

const ITEM =
  /<th role="rowheader" scope="row"><a href="([^"]+)">(?:<bdi>)?([^<]+)(?:<\/bdi>)?<\/a> <span class="badge \w*">([^<]+)<\/span>.*?<\/th>\s*<td[^>]*data-label="Messages">([\d,]+).*?data-label="Passed">([\d,]+).*?data-label="Failed">([\d,]+)/gs;

async function readList(path: string) {
  const text = await get(path);
  const items = [...text.matchAll(ITEM)].map(
    ([, href = '', title = '', verdict = '', ...counts]) => ({
      ...{ path: toPath(href), title, verdict, counts: counts.map(toNumber) },
    }),
  );
  const readable = toReadable(text);
  const [, label = '', failed = '', sources = ''] =
    /All sources \/ (.*?) \(.*\): ([\d,]+) messages? from ([\d,]+) sources? failed/.exec(
      readable,
    ) ?? [];
  return { items, label, counts: [toNumber(sources), toNumber(failed)], readable };
}

/** The rows of a file. */
async function readFile(path: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const { text } = await browser.download(path);
  const [heads = [], ...rows] = text
    .slice(1)
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );
  return rows.map((cells) => Object.fromEntries(heads.map((head, i) => [head, cells[i] ?? ''])));
}

const toListed = (title: string, row: Readonly<Record<string, string>>): Listed => ({
  ...{ title, verdict: row['Verdict'] ?? '' },
  counts: ['Messages', 'Passed', 'Failed'].map((name) => Number(row[name])),
});

const byTitle = (a: Listed, b: Listed) => (a.title < b.title ? -1 : 1);
const sorted = (all: readonly Listed[]) =>
  all.map(({ title, verdict, counts }) => ({ title, verdict, counts })).sort(byTitle);
const sum = (all: readonly Listed[]) =>
  [0, 1, 2].map((i) => all.reduce((total, { counts }) => total + (counts[i] ?? 0), 0));

const JUDGEMENT =
  /<h2 id="verdict">.*?<strong>(?:<bdi>)?([^<]+)(?:<\/bdi>)?<\/strong>.*?<span class="badge \w*">([^<]+)</s;

/** What the page of an address or of a sender says of it. */
async function readJudgement(path: string) {
  const text = await get(path);
  const page = toReadable(text);
  const [, title, verdict] = JUDGEMENT.exec(text) ?? [];
  const [, label = ''] = /On the way to p=reject it counts as (.*?) : /.exec(page) ?? [];
  const [, rows = ''] = /Day Messages Failed Pass rate (.*?) (?:Results|$)/.exec(page) ?? [];
  const days = [...rows.matchAll(/ 20\d\d ([\d,]+) ([\d,]+) /g)];
  const total = (i: number) => days.reduce((all, day) => all + toNumber(day[i] ?? ''), 0);
  return { title, verdict, label, messages: total(1), failed: total(2) };
}

/** Everything that is shown of a domain, but what is set aside. */
async function readAll(id: string, name: string) {
  const list = `/settings/domains/${id}/sources`;
  const files = { addresses: `${list}/csv?days=30&group=address`, senders: `${list}/csv?days=30` };
  const addresses = await readFile(files.addresses);
  const senders = await readFile(files.senders);
  const steps = await readSteps(id, name);
  const page = await readDomainPage(id);
  const { items } = await readList(`${list}?days=30`);
  const { items: shown } = await readList(`${list}?days=30&group=address`);
  const days = addresses.map((row) => row['Last day'] ?? '').sort();
  return { addresses, senders, steps, page, items, shown, newest: days.at(-1) };
}

type All = Awaited<ReturnType<typeof readAll>>;

/** Senders are the sums of their addresses, in lists, files and on their pages. */
async function checkSenders({ addresses, senders, items, shown }: All, id: string) {
  const ofSender = Map.groupBy(addresses, (row) => row['Sender'] ?? '');
  const listed = addresses.map((row) => toListed(row['Address'] ?? '', row));
  const summed = [...ofSender].map(([title, rows]) => {
    const some = rows.map((row) => toListed(title, row));
    expect(new Set(some.map(({ verdict }) => verdict)).size).toBe(1);
    return { title, verdict: some[0]?.verdict ?? '', counts: sum(some) };
  });
  expect(sorted(shown)).toEqual(sorted(listed));
  expect(sorted(senders.map((row) => toListed(row['Sender'] ?? '', row)))).toEqual(sorted(summed));
  expect(sorted(items)).toEqual(sorted(summed));
  for (const { path, title, verdict } of items) {
    const { items: members } = await readList(path);
    const own = ofSender.get(title) ?? [];
    // The sender of an address alone leads to the address's page.
    if (path.includes('within='))
      expect(sorted(members)).toEqual(
        sorted(own.map((row) => toListed(row['Address'] ?? '', row))),
      );
    expect(await readJudgement(path)).toMatchObject({ title, verdict });
  }
  const list = `/settings/domains/${id}/sources`;
  for (const row of addresses.filter((_, i) => i < 8 || i === addresses.length - 1)) {
    const { verdict, counts } = toListed('', row);
    expect(await readJudgement(`${list}/${row['Address']}?days=30`)).toMatchObject({
      ...{ title: row['Sender'], verdict, messages: counts[0], failed: counts[2] },
    });
  }
}

/** Rows of the answer are the sums of what has their standing, and each link lists what it counts. */
async function checkAnswer({ addresses, senders, page }: All, id: string) {
  const list = `/settings/domains/${id}/sources`;
  const rows = [];
  const met: string[] = [];
  for (const standing of STANDING_NAMES) {
    const path = `${list}?days=30&standing=${standing}&group=address`;
    const { items, label, counts } = await readList(path);
    const [messages, , failed] = sum(items);
    expect([label, counts]).toEqual([STANDINGS[standing][0], [items.length, failed]]);
    if (items.length > 0) rows.push([label, [items.length, messages, failed]]);
    for (const { title } of items.slice(0, 3))
      expect((await readJudgement(`${list}/${title}?days=30`)).label).toBe(label);
    met.push(...items.map(({ title }) => title));
  }
  expect(page.rows.toSorted()).toEqual(rows.toSorted());
  expect(met.sort()).toEqual(addresses.map((row) => row['Address']).sort());
  for (const { counts, path } of page.links) expect((await readList(path)).counts).toEqual(counts);
  for (const { path, title, verdict, sources, failed } of page.stopped) {
    const { items } = await readList(path);
    expect([items.length, sum(items)[2]]).toEqual([sources, failed]);
    const row = senders.find((one) => one['Sender'] === title);
    expect([row?.['Verdict'], Number(row?.['Failed'])]).toEqual([verdict, failed]);
  }
  const failing = senders.filter((row) => Number(row['Failed']) > 0);
  expect(page.stopped).toHaveLength(Math.min(8, failing.length));
}

const getData = async (path: string) => (await api.get(`/v1/external/${path}`, { key })).body.data;

/** The words of pages for the contract's codes. */
const LABELS: Readonly<Record<string, string>> = {
  ...{ yours: 'Yours', needs_setup: 'Needs set-up', passed_on: 'Passed on' },
  ...{ not_recognised: 'Not recognised', forged: 'Forged' },
};
const toAnswer = ({ answer, reasons }: { answer: string; reasons: { code: string }[] }) => {
  if (answer === 'reached') return 'It is there';
  if (answer !== 'yes') return 'Not yet';
  const isAsked = reasons.some(({ code }) => code === 'stranger' || code === 'undecided');
  return isAsked ? 'Yes, if' : 'Yes';
};

const ROW_OF_OVERVIEW =
  /data-label="Messages">([\d,]+).*?data-label="Change in points">(.*?)<\/td>/s;

/** A domain on the overview, which has many pages. */
async function findOnOverview(id: string): Promise<DomainOverview> {
  const ask = (path: string) => api.get(path, { key });
  const { items } = await walk(ask, '/v1/external/overview?order=domain', 200);
  return (items as DomainOverview[]).find((item) => item.id === id) as DomainOverview;
}
type DomainOverview = components['schemas']['DomainOverview'];

/** What the overview and the page of a domain show, by two requests. */
async function checkFigures({ steps, page }: All, id: string, name: string) {
  const listed = await findOnOverview(id);
  const one = await getData(`domains/${id}`);
  for (const { next_step, readiness } of [listed, one]) {
    const { text, record } = next_step;
    // The link is the page's own.
    expect(steps.page.startsWith(`${text} ${record ?? ''}`.trim())).toBe(true);
    expect(toAnswer(readiness)).toBe(page.answer);
  }
  expect(listed.next_step).toEqual(one.next_step);
  expect(listed.readiness).toEqual(one.readiness);
  const row = await get(`/settings/overview?q=${name}`);
  const [, messages = '', change = ''] = ROW_OF_OVERVIEW.exec(row) ?? [];
  const { figures } = listed;
  expect(toNumber(messages)).toBe(figures.total_messages);
  const shown = toReadable(change).trim().replace('−', '-');
  if (figures.change !== null) expect(Number(shown)).toBe(figures.change);
  else expect(shown).toBe(figures.total_messages === 0 ? '–' : 'new');
  const mail = one.mail
    .filter(({ sources }: { sources: number }) => sources > 0)
    .map((of: { standing: keyof typeof STANDINGS; sources: number; [count: string]: unknown }) => {
      const [total, passed] = [Number(of['total_messages']), Number(of['aligned_messages'])];
      return [STANDINGS[of.standing][0], [of.sources, total, total - passed]];
    });
  expect(mail.toSorted()).toEqual(page.rows.toSorted());
  for (const { counts, path } of page.links.filter(({ path }) => path.includes('standing='))) {
    const code = new URLSearchParams(path.split('?')[1]).get('standing');
    const reason = one.readiness.reasons.find((of: { code: string }) => of.code === code);
    if (reason) expect([reason.sources, reason.messages]).toEqual(counts);
  }
}

/** The days add up to the figures. */
async function checkDays({ newest }: All, id: string) {
  const { figures } = await getData(`domains/${id}`);
  const days = await getData(`domains/${id}/days?from=${figures.from}&until=${figures.until}`);
  const total = (field: string) =>
    days.reduce((all: number, day: Record<string, number>) => all + Number(day[field]), 0);
  for (const field of ['total_messages', 'aligned_messages', 'set_aside_messages'])
    expect(total(field)).toBe(figures[field]);
  if (newest !== undefined) expect(figures.until >= newest).toBe(true);
}

async function checkApi({ addresses, newest }: All, id: string, messages: readonly number[]) {
  if (newest === undefined) return;
  const range = `from=${addDays(newest, -29)}&until=${newest}`;
  const { body } = await api.get(`/v1/external/domains/${id}/sources?${range}&limit=200`, { key });
  const sources = body.data.map((one: Record<string, unknown>) => [
    ...[one['source_ip'], one['total_messages'], one['aligned_messages'], one['mark']],
    ...[one['sender'], LABELS[String(one['verdict'])]],
  ]);
  const wanted = addresses.map((row) => [
    ...[row['Address'], Number(row['Messages']), Number(row['Passed']), row['Mark'] || null],
    ...[row['Sender'], row['Verdict']],
  ]);
  expect(sources.toSorted()).toEqual(wanted.toSorted());
  const aside = messages.reduce((all, count) => all + count, 0);
  expect([body.set_aside_reports, body.set_aside_messages]).toEqual([messages.length, aside]);
}

const NOBODY = { authenticated: '', claimed: ['stranger.example'] };

/** Reports that are not believed change nothing but the sentence that tells of them. */
async function checkAside(
  before: All,
  id: string,
  { name, madeUp }: { name: string; madeUp: MadeUp },
) {
  const begin = `${before.newest}T00:00:00Z`;
  const send = (count: number) =>
    aReportOf([aRecord({ sourceIp: '198.51.100.7', count, spf: 'pass' })], { domain: name, begin });
  await receive(api.db, madeUp.aside.map(send), NOW, NOBODY);
  const page = toReadable(await get(`/settings/domains/${id}`));
  if (madeUp.lag > 30) {
    // Nobody is established any more, so they count.
    const counts = page.includes('No established reporter has sent reports in 30 days,');
    expect(counts).toBe(madeUp.aside.length > 0);
    return;
  }
  const after = await readAll(id, name);
  expect(after).toEqual(before);
  expect(page.includes(' not established yet')).toBe(madeUp.aside.length > 0);
  await checkApi(after, id, madeUp.aside);
}

const toSource = (kind: keyof typeof KINDS, i: number) => ({
  ...{ at: Math.min(i + 1, 8), kind, count: 20 as const, isRare: false, mark: null },
});

/** The last but one is at an address of which some passes. */
const ONE_OF_EACH: MadeUp = {
  ...{ policy: 'none', sp: null, pct: null, record: undefined, days: 20, lag: 1, legitimate: 30 },
  ...{ scattered: 25, marks: [null, null, null], sendsNoMail: false, aside: [1_100_000] },
  sources: [
    ...(['forgotten', 'forger', 'forwarder', 'service', 'own', 'below'] as const).map(toSource),
    { ...toSource('forgotten', 0), at: 5 },
    { ...toSource('refused', 0), at: 6, mark: 'unknown' },
  ],
  hasAlert: false,
};

/** All of its own mail is signed, and what strangers sent on the last day would be stopped. */
const READY_BUT_FOR_STRANGERS: MadeUp = {
  ...ONE_OF_EACH,
  ...{ days: 40, legitimate: 0, aside: [] },
  sources: [0, 1, 2, 3].map((at) => ({ ...toSource('carried', at), count: 20 })),
};

test('whoever shows a domain tells the same of it: verdicts, counts, standings and the next step, also behind each link', async () => {
  const seen = new Set<string>();
  let [built, linked] = [0, 0];
  await fc.assert(
    fc.asyncProperty(aMadeUpDomain, async (madeUp) => {
      built += 1;
      // A person may look at so many pages a minute.
      vi.advanceTimersByTime(60_000);
      const name = `d${built}-${madeUp.lag}.example`;
      const id = await build(name, madeUp);
      const all = await readAll(id, name);
      const { overview, page, mail } = all.steps;
      expect([page, mail]).toEqual([overview, overview]);
      const [, fits] = ANSWERS.find(([pattern]) => pattern.test(overview)) ?? [];
      const { answer } = all.page;
      expect({ overview, answer }).toEqual({
        ...{ overview, answer: expect.stringMatching(fits ?? /^$/) },
      });
      await checkFigures(all, id, name);
      await checkDays(all, id);
      await checkSenders(all, id);
      vi.advanceTimersByTime(60_000);
      await checkAnswer(all, id);
      vi.advanceTimersByTime(60_000);
      if (all.newest !== undefined) await checkAside(all, id, { name, madeUp });
      linked += all.page.links.length;
      for (const [label] of all.page.rows) seen.add(label);
      seen.add(answer);
      for (const { verdict } of all.items) seen.add(verdict);
    }),
    {
      numRuns: caseCount({ few: 30, full: 60, fullOnPostgres: 30 }),
      seed: 41,
      endOnFailure: true,
      examples: [[ONE_OF_EACH], [READY_BUT_FOR_STRANGERS]],
    },
  );
  const verdicts = ['Yours', 'Needs set-up', 'Passed on', 'Not recognised', 'Forged'];
  const labels = STANDING_NAMES.map((standing) => STANDINGS[standing][0]);
  const answers = ['It is there', 'Not yet', 'Yes', 'Yes, if'];
  expect([...seen].sort()).toEqual([...new Set([...verdicts, ...labels, ...answers])].sort());
  expect(linked).toBeGreaterThan(5);
}, 600_000);
