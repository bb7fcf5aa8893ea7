import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { addDays } from '../../src/domain/instant.ts';
import type { ReportRecord } from '../../src/domain/reports/aggregate-report.ts';
import { updateDnsRecord } from '../../src/store/alerts/dns-records.ts';
import { updateMark } from '../../src/store/sources/marks.ts';
import { type Api, serveApi } from '../support/api.ts';
import {
  aBareAccount,
  aDomain,
  anAlert,
  aRecord,
  aReportOf,
  aSignature,
  NOW,
  receive,
} from '../support/builders.ts';
import { aVisitor, type Browser, toReadable } from '../support/visitor.ts';

let api: Api;
let accountId: string;
let browser: Browser;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date('2026-03-15T12:00:00Z'));
  api = await serveApi();
  accountId = await aBareAccount(api.db);
  ({ browser } = await aVisitor(api, accountId));
  return () => void vi.useRealTimers();
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
} as const;

function failing(count: number) {
  return { count, spf: 'fail' as const, dkim: 'fail' as const };
}

const KIND_NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];
const POLICIES = ['none', 'quarantine', 'reject'] as const;

const aSource = fc.record({
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
  sources: fc.array(aSource, { maxLength: 4 }),
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
  for (const [i, { mark }] of sources.entries()) {
    const change = { domainId: id, address: toAddress(i), mark };
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

const toAddress = (i: number) => `203.0.113.${i + 1}`;

function toRecords({ legitimate, sources }: MadeUp, name: string, isLast: boolean): ReportRecord[] {
  const others = sources.flatMap(({ kind, count, isRare }, i) =>
    isRare && !isLast ? [] : [aRecord({ sourceIp: toAddress(i), ...KINDS[kind](count, name) })],
  );
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
