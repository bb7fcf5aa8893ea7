import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { addDays } from '../../src/domain/instant.ts';
import type { ReportRecord } from '../../src/domain/reports/aggregate-report.ts';
import { STANDING_NAMES, STANDINGS } from '../../src/settings/pages/readiness-view.ts';
import { updateDnsRecord } from '../../src/store/alerts/dns-records.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import type { Api } from '../support/api.ts';
import {
  aDomain,
  anAlert,
  aRecord,
  aReportOf,
  aSignature,
  NOW,
  receive,
} from '../support/builders.ts';
import { type Browser, onTestDay, toReadable } from '../support/visitor.ts';

let api: Api;
let accountId: string;
let browser: Browser;

beforeEach(async () => {
  ({ api, accountId, browser } = await onTestDay());
});

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
    signatures: [aSignature({ domain, result: 'fail' })],
  }),
  service: (count: number) => ({
    ...failing(count),
    signatures: [aSignature({ domain: 'sendgrid.net', result: 'pass' })],
  }),
  forgotten: failing,
  refused: (count: number, domain: string) => ({
    ...{ ...failing(count), spfDomain: domain, spfResult: 'fail' },
  }),
  softfail: (count: number, domain: string) => ({
    ...{ ...failing(count), spfDomain: domain, spfResult: 'softfail' },
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

const aSource = fc.record({
  /** Several of them may send from one address. */
  at: fc.integer({ min: 1, max: 7 }),
  kind: fc.constantFrom(...KIND_NAMES),
  count: fc.constantFrom(1, 3, 20),
  /** On every day, or on the last one. */
  isRare: fc.boolean(),
  mark: fc.constantFrom(null, null, null, 'unknown' as const, 'legitimate' as const),
});

const aMadeUpDomain = fc.record({
  policy: fc.constantFrom(...POLICIES),
  pct: fc.constantFrom(null, null, null, 50),
  record: fc.constantFrom(undefined, undefined, null, 'v=DMARC1; p=none\nv=DMARC1; p=reject'),
  days: fc.constantFrom(30, 30, 40, 20),
  /** How many days ago the newest report begins. */
  lag: fc.constantFrom(1, 1, 2, 6, 9),
  legitimate: fc.constantFrom(30, 35, 500),
  sources: fc.array(aSource, { maxLength: 5 }),
  hasAlert: fc.constantFrom(false, false, false, false, true),
});

type MadeUp = typeof aMadeUpDomain extends fc.Arbitrary<infer Domain> ? Domain : never;

async function build(name: string, madeUp: MadeUp): Promise<string> {
  const { id } = await aDomain(api.db, accountId, { name });
  const { policy: p, pct, days, lag, sources } = madeUp;
  const reports = Array.from({ length: days }, (_, i) => {
    const begin = `${addDays('2026-03-15', -lag - i)}T00:00:00Z`;
    const records = toRecords(madeUp, name, i === 0);
    return aReportOf(records, { domain: name, begin, policy: { p, pct } });
  });
  await receive(api.db, reports);
  for (const { at, mark } of sources) {
    const change = { domainId: id, subject: toAddress(at), mark };
    await updateMark(api.db, change, { accountId, name: 'somebody', at: NOW, address: null });
  }
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

function toRecords({ legitimate, sources }: MadeUp, name: string, isLast: boolean): ReportRecord[] {
  const others = sources
    .filter(({ isRare }) => isLast || !isRare)
    .map(({ at, kind, count }) => {
      const sent = { headerFrom: name, ...KINDS[kind](count, name) };
      return aRecord({ sourceIp: toAddress(at), ...sent });
    });
  return [aRecord({ sourceIp: '192.0.2.1', ...KINDS.own(legitimate) }), ...others];
}

const STEP = /<td role="cell" class="step">(.*?)<\/td>/s;

/** The next step of each domain on the overview, by its id. */
async function readSteps(): Promise<ReadonlyMap<string, string>> {
  const { text } = await browser.get('/settings/overview');
  const rows = [...text.matchAll(/<tr role="row">.*?<\/tr>/gs)].map(([row]) => row);
  return new Map(
    rows.flatMap((row) => {
      const [, id] = /\/settings\/domains\/([0-9a-f-]{36})"/.exec(row) ?? [];
      return id === undefined ? [] : [[id, toReadable(STEP.exec(row)?.[1] ?? '').trim()]];
    }),
  );
}

async function readPage(id: string) {
  const page = toReadable((await browser.get(`/settings/domains/${id}`)).text);
  const [, step = ''] = /Next step (.*?) (?:Open alerts|\d+ open alert)/s.exec(page) ?? [];
  const [, answer = ''] =
    /Can I go to p=reject\? (It is there|Yes, if|Yes|Not yet)/.exec(page) ?? [];
  return { step: step.trim(), answer };
}

/** What the answer is beside a step, by what the step says first. Beside an alert it is any. */
const ANSWERS: readonly (readonly [step: RegExp, answer: RegExp])[] = [
  [/^More than 99% .* if .* are not yours/, /^Yes, if$/],
  [/^More than 99% /, /^Yes/],
  [/ failed in 30 days /, /^Not yet$/],
  [/^Wait for more reports/, /^Not yet$/],
  [/^No report covers a day after/, /^(Not yet|It is there)$/],
  [/^(Nothing to do|Subdomains are not protected)/, /^It is there$/],
  [/^(A sharp|Look|DNS has|The pass rate)/, /./],
];

test('the overview and the page of a domain tell the same next step, and the answer fits it', async () => {
  const seen = new Set<string>();
  let built = 0;
  await fc.assert(
    fc.asyncProperty(aMadeUpDomain, async (madeUp) => {
      built += 1;
      const id = await build(`d${built}.example`, madeUp);
      const step = (await readSteps()).get(id) ?? '';
      const page = await readPage(id);
      expect(page.step).toBe(step);
      const [, fits] = ANSWERS.find(([pattern]) => pattern.test(step)) ?? [];
      expect({ step, answer: page.answer }).toEqual({
        step,
        answer: expect.stringMatching(fits ?? /^$/),
      });
      seen.add(page.answer);
    }),
    { numRuns: 45, endOnFailure: true },
  );
  expect([...seen].sort()).toEqual(expect.arrayContaining(['Not yet', 'Yes', 'Yes, if']));
}, 60_000);

const ROW =
  /<th role="rowheader" scope="row">([^<]+) <small>[^<]*; ([\d,]+) sources?<\/small><\/th>\s*<td[^>]*>([\d,]+)<\/td>\s*<td[^>]*>[^<]*<\/td>\s*<td[^>]*>([\d,]+)</g;

/** How many sources, messages and failed ones each row of the answer's table counts. */
async function readAnswer(id: string) {
  const { text } = await browser.get(`/settings/domains/${id}`);
  const rows = [...text.matchAll(ROW)]
    .map(([, label = '', ...counts]) => [label, counts.map(toNumber)] as const)
    .filter(([, [sources]]) => sources !== 0);
  const links = [...text.matchAll(LINK)].map(([, failed = '', sources = '', path = '']) => {
    return { counts: [toNumber(sources), toNumber(failed)], path: path.replaceAll('&amp;', '&') };
  });
  return { rows, links };
}

/** In the answer, and in the next step. */
const LINK = /([\d,]+) messages? from ([\d,]+) sources? [^<]*<a href="([^"]*standing=[^"]*)"/g;

const toNumber = (text: string) => Number(text.replaceAll(',', ''));

/** What the page of a source says that it counts as, and how much it sent. */
async function readSource(id: string, address: string) {
  const page = toReadable((await browser.get(`/settings/domains/${id}/sources/${address}`)).text);
  const [, label = ''] = /On the way to p=reject it counts as (.*?) : /.exec(page) ?? [];
  const [, rows = ''] = /Day Messages Failed Pass rate (.*?) (?:Results|$)/.exec(page) ?? [];
  const days = [...rows.matchAll(/ 20\d\d ([\d,]+) ([\d,]+) /g)];
  const sum = (i: number) => days.reduce((all, day) => all + toNumber(day[i] ?? ''), 0);
  return { address, label, messages: sum(1), failed: sum(2) };
}

/** The addresses that the list has of a standing, and what it says of them. */
async function readList(path: string) {
  const { text } = await browser.get(`${path}&group=address`);
  const links = [...text.matchAll(/scope="row"><a href="[^"]*">([\d.]+)<\/a>/g)];
  const [, label = '', failed = '', sources = ''] =
    /All sources \/ (.*?) \(.*\): ([\d,]+) messages? from ([\d,]+) sources? failed/.exec(
      toReadable(text),
    ) ?? [];
  const counts = [toNumber(sources), toNumber(failed)];
  return { label, counts, addresses: links.map(([, address = '']) => address).sort() };
}

const toSource = (kind: keyof typeof KINDS, i: number) => ({
  ...{ at: Math.min(i + 1, 5), kind, count: 20 as const, isRare: false, mark: null },
});

/** The last two are at one address, of which some passes. */
const ONE_OF_EACH: MadeUp = {
  ...{ policy: 'none', pct: null, record: undefined, days: 20, lag: 1, legitimate: 30 },
  sources: [
    ...(['forgotten', 'forger', 'forwarder', 'service', 'own', 'forgotten'] as const).map(toSource),
    { ...toSource('refused', 0), at: 6, mark: 'unknown' },
  ],
  hasAlert: false,
};

test('a source has one standing on its page, in the list and in the answer, whose links lead to what it counts', async () => {
  const seen = new Set<string>();
  let [built, linked] = [0, 0];
  await fc.assert(
    fc.asyncProperty(aMadeUpDomain, async (madeUp) => {
      built += 1;
      // A person may look at so many pages a minute.
      vi.setSystemTime(Date.now() + 60_000);
      const id = await build(`s${built}.example`, madeUp);
      const addresses = new Set(['192.0.2.1', ...madeUp.sources.map(({ at }) => toAddress(at))]);
      const pages = [];
      for (const address of addresses) pages.push(await readSource(id, address));
      const byLabel = Map.groupBy(pages, ({ label }) => label);
      const wanted = [...byLabel].map(([label, of]) => {
        const sum = (name: 'messages' | 'failed') => of.reduce((all, one) => all + one[name], 0);
        return [label, [of.length, sum('messages'), sum('failed')]];
      });
      const { rows, links } = await readAnswer(id);
      expect(rows.toSorted()).toEqual(wanted.toSorted());
      for (const { counts, path } of links) expect((await readList(path)).counts).toEqual(counts);
      linked += links.length;
      for (const standing of STANDING_NAMES) {
        const [label] = STANDINGS[standing];
        const of = byLabel.get(label) ?? [];
        const failed = of.reduce((all, one) => all + one.failed, 0);
        const path = `/settings/domains/${id}/sources?days=30&standing=${standing}`;
        const listed = await readList(path);
        expect(listed).toEqual({
          ...{ label, counts: [of.length, failed] },
          addresses: of.map(({ address }) => address).sort(),
        });
        if (of.length > 0) seen.add(standing);
      }
    }),
    { numRuns: 25, endOnFailure: true, examples: [[ONE_OF_EACH]] },
  );
  expect([...seen].sort()).toEqual([...STANDING_NAMES].sort());
  expect(linked).toBeGreaterThan(1);
}, 60_000);
