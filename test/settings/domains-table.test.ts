import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { anMmdb } from '../../scripts/mmdb.ts';
import { evaluate } from '../../src/alerts/evaluate.ts';
import { DEFAULT_THRESHOLDS } from '../../src/domain/alerts/thresholds.ts';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { addDays } from '../../src/domain/instant.ts';
import type { NextStep } from '../../src/domain/next-step.ts';
import { updateDnsRecord } from '../../src/store/alerts/dns-records.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import { updateNames } from '../../src/store/days/names.ts';
import { updateDomainStatus, updateSendsNoMail } from '../../src/store/domains/domains.ts';
import type { DocumentSender } from '../../src/store/reports/senders.ts';
import { type Api, serveApi } from '../support/api.ts';
import {
  aBareAccount,
  aDomain,
  aRecord,
  aReportOf,
  aSignature,
  NOW,
  receive,
} from '../support/builders.ts';
import { IS_POSTGRES } from '../support/store.ts';
import { aVisitor, type Browser, toReadable } from '../support/visitor.ts';
import {
  DOMAINS as ALL_DOMAINS,
  type Answer,
  type TableDomain,
  type Teller,
  type Traffic,
} from './domains.table.ts';

/** Engines differ in rows, which agreement.test.ts compares, and not in what is said of them: on PostgreSQL some are enough. */
const DOMAINS = ALL_DOMAINS.filter((_, i) => !IS_POSTGRES || i % 5 === 0);
const TODAY = '2026-03-15';
/** Before the first report of any domain. */
const ADDED = '2025-11-01T00:00:00Z';
/** Alerts are evaluated after these days: longer than most stay open, and often enough that no day is too old to fire. */
const isWatched = (day: number) => day <= 25 && (day % 3 === 1 || day === 3);

const toDayAgo = (ago: number) => addDays(TODAY, -ago);

// What the domains are made of.

const TELLERS: Readonly<Record<Teller, DocumentSender>> = {
  file: {},
  established: { authenticated: 'google.com' },
  nobody: { authenticated: '' },
  new: { authenticated: 'new-reporter.example' },
};
const TELLER_NAMES = Object.keys(TELLERS) as Teller[];

function toPolicy(text: string) {
  const tags = Object.fromEntries(text.split(' ').map((tag) => tag.split('=')));
  const { p = 'none', sp = null, np = null, t: testing = null, pct } = tags;
  return { p, sp, np, testing, pct: pct === undefined ? null : Number(pct) };
}

/** The reports of a day of a domain by one teller: none, or one. */
function toReports(domain: TableDomain, teller: Teller, day: number) {
  const [first, last] = domain.days;
  if (day > first || day < last) return [];
  const records = domain.traffic
    .filter(({ toldBy = domain.toldBy ?? 'file' }) => toldBy === teller)
    .flatMap((traffic) => toRecords(domain, traffic, day));
  const { name, policy } = domain;
  const begin = `${toDayAgo(day)}T00:00:00Z`;
  const parts = { domain: name, orgName: `Provider ${teller}`, begin, policy: toPolicy(policy) };
  return records.length === 0 ? [] : [aReportOf(records, parts)];
}

function toRecords({ name, policy }: TableDomain, traffic: Traffic, day: number) {
  const { from, daily, days: [first, last] = [Infinity, 0], every = 1 } = traffic;
  if (day > first || day < last || day % every !== 0) return [];
  const addresses = from(day);
  const results = toResults(traffic, name);
  const hasFailed = results.dkim === 'fail' && results.spf === 'fail';
  const { p, sp } = toPolicy(policy);
  const applied = results.headerFrom === name ? p : (sp ?? p);
  return addresses.map((sourceIp, i) => {
    const count = Math.floor(daily / addresses.length) + (i < daily % addresses.length ? 1 : 0);
    return aRecord({ ...results, sourceIp, count, disposition: hasFailed ? applied : 'none' });
  });
}

/** What a receiver says of the messages of a sender, with relaxed alignment. */
function toResults({ spf, dkim, author, reason }: Traffic, name: string) {
  const toName = (text = '') => text.replace(/(^|\.)own$/, `$1${name}`);
  const [spfResult = 'none', spfDomain] = spf?.split(' ') ?? [];
  const signatures = dkim.map((one) => {
    const [result = '', domain, selector = null] = one.split(' ');
    return aSignature({ result, domain: toName(domain), selector });
  });
  const isOwn = (domain: string | null) => domain === name || !!domain?.endsWith(`.${name}`);
  const passes = (one: { domain: string | null; result: string | null }) =>
    one.result === 'pass' && isOwn(one.domain);
  return {
    headerFrom: toName(author),
    spf: passes({ domain: toName(spfDomain), result: spfResult }) ? 'pass' : 'fail',
    dkim: signatures.some(passes) ? 'pass' : 'fail',
    ...{ spfDomain: toName(spfDomain), spfResult, signatures },
    reasons: reason === undefined ? [] : [{ type: reason, comment: null }],
  } as const;
}

/** The scattered addresses are in 64 networks of IPv4 and 256 of IPv6, as those of a botnet are. */
const NETWORKS = Object.fromEntries([
  ['192.0.2.0/24', toNetwork(64_500, 'Own Network')],
  ['2001:db8:25::/48', toNetwork(64_501, 'Relay Network')],
  ...Array.from({ length: 64 }, (_, i) => [`198.18.${4 * i}.0/22`, toAccess(64_600 + i)]),
  ...Array.from({ length: 256 }, (_, i) => [
    `2001:db8:${(0xb000 + 16 * i).toString(16)}::/44`,
    toAccess(65_000 + i),
  ]),
]);

function toAccess(asn: number) {
  return toNetwork(asn, `Access ${asn}`);
}

function toNetwork(asn: number, organisation: string) {
  return { autonomous_system_number: asn, autonomous_system_organization: organisation };
}

/** A database of networks in a folder that goes at the end of the test. */
function aNetworkDatabase(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'networks.mmdb');
  writeFileSync(file, anMmdb({ networks: NETWORKS }));
  return file;
}

/** Stores all domains with their reports, day by day as they come in; returns the ids. */
async function storeDomains({ db, store }: Api, accountId: string) {
  const ids = new Map<string, string>();
  for (const domain of DOMAINS) {
    const { id } = await aDomain(db, accountId, { name: domain.name, now: ADDED });
    ids.set(domain.name, id);
    await describeDomain(db, { ...domain, id, accountId });
  }
  const oldest = Math.max(...DOMAINS.map(({ days }) => days[0]));
  for (let day = oldest; day >= 1; day -= 1) {
    const at = `${toDayAgo(day - 1)}T04:12:09Z`;
    for (const teller of TELLER_NAMES) {
      const reports = DOMAINS.flatMap((domain) => toReports(domain, teller, day));
      if (reports.length > 0) await receive(db, reports, at, TELLERS[teller]);
    }
    const deps = { store, thresholds: DEFAULT_THRESHOLDS, now: () => new Date(at) };
    if (isWatched(day)) await evaluate(deps, ids.values());
  }
  return ids;
}

/** What people, DNS and the operator say of a domain. */
async function describeDomain(
  db: Api['db'],
  domain: TableDomain & { readonly id: string; readonly accountId: string },
): Promise<void> {
  const { id: domainId, accountId, name, dns } = domain;
  const by = { accountId, name: 'somebody', at: NOW, address: null };
  const expiresAt = `${addDays(TODAY, 7)}T00:00:00Z`;
  const names = domain.traffic.flatMap(({ ptr, from }) =>
    ptr
      ? from(0).map((address) => ({ address, name: ptr.replace(/\bown$/, name), expiresAt }))
      : [],
  );
  const named = new Map(names.map((one) => [one.address, one]));
  await updateNames(db, { domainId, now: NOW }, [...named.values()]);
  for (const [subject, mark] of Object.entries(domain.marks ?? {}))
    await updateMark(db, { domainId, subject, mark }, by);
  if (domain.sendsNoMail) await updateSendsNoMail(db, { domainId, sendsNoMail: true }, by);
  if (domain.isPaused) await updateDomainStatus(db, domainId, 'paused');
  if (dns !== undefined)
    await updateDnsRecord(db, {
      ...{ domainId, at: NOW, type: 'dmarc' },
      update: () => ({ ...UNKNOWN_RECORD, confirmed: { value: dns } }),
    });
}

// What the pages say.

/** How a step of each kind reads; an alert reads in any other way. */
const KINDS: readonly (readonly [kind: NextStep['kind'], pattern: RegExp])[] = [
  ['resume', /^The domain is paused/],
  ['first_reports', /^No report has come in yet/],
  ['publish_record', /^DNS has no DMARC record/],
  ['one_record', /^DNS has several DMARC records/],
  ['silent', /^No report covers a day after/],
  ['wait', /^(Wait for |With so little mail)/],
  ['no_passing_mail', /^No mail of the domain passed/],
  ['lock', /^The domain sends no mail, so/],
  ['sends_after_all', /^The domain is said to send no mail/],
  ['sign', / passed by SPF alone in 30 days/],
  [
    'failing',
    /^Do you know | sends mail of this domain as itself| is a private address| authenticates mail of this one| stopped passing on | is yours(, and| by its name)|and the signature does not verify\. /,
  ],
  ['forwarded', / of yours that others passed on would be stopped/],
  ['enforce', /: remove .* from the DMARC record/],
  ['stronger', /: (change p=|the DMARC record has no valid p)| are not protected /],
  ['nothing', /^Nothing to do/],
  ['alert', /./],
];

const ANSWERS: readonly (readonly [answer: Answer, pattern: RegExp])[] = [
  ['reached', /^It is there/],
  ['yes', /^Yes/],
  ['wait', /^Not yet\. (Wait for |With so little mail|No report covers)/],
  ['not_yet', /^Not yet\./],
];

function findName<T>(names: readonly (readonly [T, RegExp])[], text: string): T | 'none' {
  return names.find(([, pattern]) => pattern.test(text))?.[0] ?? 'none';
}

interface Told {
  readonly overview: string;
  readonly page: string;
  readonly answer: string;
}

const STEP = /<td role="cell" class="step">(.*?)(?:<p class="muted">|<\/td>)/s;
const ANSWER =
  /Can I go to p=reject\? (?:For the domain itself, .*?\. )?((?:It is there|Yes|Not yet).{0,60})/;

/** The next step of each domain on the overview, by its id. */
async function readOverview(browser: Browser): Promise<ReadonlyMap<string, string>> {
  const steps = new Map<string, string>();
  for (let page = 1; steps.size < DOMAINS.length; page += 1) {
    const { text } = await browser.get(`/settings/overview?page=${page}`);
    const known = steps.size;
    for (const [row] of text.matchAll(/<tr role="row">.*?<\/tr>/gs)) {
      const id = /\/settings\/domains\/([0-9a-f-]{36})"/.exec(row)?.[1];
      if (id !== undefined) steps.set(id, toReadable(STEP.exec(row)?.[1] ?? '').trim());
    }
    if (steps.size === known) break;
  }
  return steps;
}

async function readDomain(browser: Browser, id: string): Promise<Omit<Told, 'overview'>> {
  // A person may look at so many pages a minute.
  vi.advanceTimersByTime(60_000);
  const { text } = await browser.get(`/settings/domains/${id}`);
  const [, step = ''] = /<h2 id="next">[^<]*<\/h2>(.*?)<\/section>/s.exec(text) ?? [];
  return { page: toReadable(step).trim(), answer: ANSWER.exec(toReadable(text))?.[1] ?? '' };
}

/** What the pages say otherwise than the table wants; empty when they agree. */
function compare(
  { wanted, traffic, isPaused }: TableDomain,
  { overview, page, answer }: Told,
): string[] {
  const { sender } = wanted;
  const labels = traffic.map(({ label }) => label).filter((label) => page.includes(label));
  const names = sender === null ? labels.length === 0 : page.search(toPattern(sender)) !== -1;
  const step = findName(KINDS, page);
  const given = findName(ANSWERS, answer);
  return [
    ...(given === wanted.answer ? [] : [`answer ${given}, not ${wanted.answer}`]),
    ...(step === wanted.step ? [] : [`step ${step}, not ${wanted.step}`]),
    ...(names ? [] : [`names ${labels.join() || 'nobody'}, not ${sender ?? 'nobody'}`]),
    ...(overview === page || isPaused ? [] : [`the overview says: ${overview}`]),
  ];
}

const toPattern = (sender: string | RegExp) =>
  typeof sender === 'string' ? new RegExp(sender.replaceAll('.', '\\.')) : sender;

test('the pages answer for made-up domains as an expert would', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  vi.setSystemTime(new Date(`${TODAY}T12:00:00Z`));
  const api = await serveApi({ ipDatabase: aNetworkDatabase() });
  const accountId = await aBareAccount(api.db);
  const ids = await storeDomains(api, accountId);
  const { browser } = await aVisitor(api, accountId);
  const steps = await readOverview(browser);
  const wrong: string[] = [];
  for (const domain of DOMAINS) {
    const id = ids.get(domain.name) ?? '';
    const told = { overview: steps.get(id) ?? '', ...(await readDomain(browser, id)) };
    const differences = compare(domain, told);
    if (differences.length === 0) continue;
    const said = [`step: ${told.page}`, `answer: ${told.answer}`, `wanted: ${domain.wanted.why}`];
    wrong.push([domain.name, ...differences, ...said].join('\n    '));
  }
  expect(wrong, `${wrong.length} of ${DOMAINS.length} are wrong:\n${wrong.join('\n')}`).toEqual([]);
});
