import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import { findFacts } from '../../src/alerts/alert-facts.ts';
import { evaluate } from '../../src/alerts/evaluate.ts';
import { RULES } from '../../src/domain/alerts/registry.ts';
import { explainRule } from '../../src/domain/alerts/rule.ts';
import { DEFAULT_THRESHOLDS as thresholds } from '../../src/domain/alerts/thresholds.ts';
import { addDays } from '../../src/domain/instant.ts';
import { type Api, serveApi } from '../support/api.ts';
import { aDomain, anAccount, aReport, receive, type TestAccount } from '../support/builders.ts';
import { aVisitor, type Browser, toReadable } from '../support/visitor.ts';

const NOW = '2026-03-15T12:00:00Z';
const NEWEST = '2026-03-14';
const regression = RULES[0];

let api: Api;
let account: TestAccount;
let browser: Browser;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date(NOW));
  api = await serveApi();
  account = await anAccount(api.db);
  ({ browser } = await aVisitor(api, account.id));
  return () => void vi.useRealTimers();
});

const aDay = (least: number, most: number) =>
  fc
    .tuple(fc.integer({ min: 100, max: 50_000 }), fc.double({ min: least, max: most, noNaN: true }))
    .map(([messages, share]) => ({ messages, aligned: Math.floor(messages * share) }));

/** What two addresses sent of a day; the rest came without an address. */
function toSources({ messages, aligned }: { messages: number; aligned: number }) {
  const [first, second] = [Math.floor(messages / 2), Math.floor(messages / 3)];
  const passed = Math.min(first, aligned);
  return [
    { address: '192.0.2.1', messages: first, aligned: passed },
    { address: '192.0.2.2', messages: second, aligned: Math.min(second, aligned - passed) },
  ];
}

/** Eight good days and a bad one. None of the good ones is ten points under the others, which would be an alert of its own. */
const history = fc.tuple(fc.array(aDay(0.92, 1), { minLength: 8, maxLength: 8 }), aDay(0, 0.79));

/** All figures of one day or of the whole history, wherever they are shown. */
async function readFigures(id: string) {
  const { text } = await browser.get(`/settings/domains/${id}?days=30`);
  const page = toReadable(text);
  const find = (pattern: RegExp) => pattern.exec(page)?.slice(1);
  const { domain: facts } = await findFacts(api.store.reader, {
    domainId: id,
    now: NOW,
    thresholds,
  });
  const said = facts === undefined ? [] : explainRule(regression, facts.views[0], thresholds);
  const explained =
    /on 2026-03-14 ([\d.]+) % of (\d+) messages passed, ([\d.]+) points under the ([\d.]+) %/;
  const alerts = await api.get(`/v1/external/alerts?domain_id=${id}`, account);
  return {
    chart: find(/ 14 Mar 2026: ([\d.]+%) of ([\d,]+) messages passed/),
    bar: find(/ 14 Mar 2026: ([\d,]+) messages, ([\d,]+) failed/),
    table: find(/Pass rate Sat 14 Mar 2026 ([\d,]+) ([\d,]+) ([\d.]+%)/),
    report: find(/Mailbox Provider 14 Mar 2026 ([\d,]+) ([\d,]+) ([\d.]+%)/),
    alert: find(
      /fell by ([\d.]+) points, from ([\d.]+%) to ([\d.]+%)\. ([\d,]+) of ([\d,]+) messages/,
    ),
    headline: find(/DMARC/) && find(/ ([\d.]+%) of ([\d,]+) messages passed DMARC/),
    total: find(/Pass rate by day(?:, from \d+%)? ([\d.]+%) of ([\d,]+) messages passed/),
    explained: explained.exec(said.join(' '))?.slice(1),
    context: alerts.body.data[0]?.context,
  };
}

/** The messages of a domain as its pages of sources and the API add them up. */
async function readSums(id: string) {
  const number = (text = '') => Number(text.replaceAll(',', ''));
  const path = `/settings/domains/${id}/sources`;
  const page = toReadable((await browser.get(`${path}?days=30&group=address`)).text);
  const rows = [...page.matchAll(/(192\.0\.2\.\d) ([\d,]+) ([\d,]+) ([\d,]+)/g)];
  const ofSource = async (address = '') => {
    const text = toReadable((await browser.get(`${path}/${address}?days=30`)).text);
    return number(/% of ([\d,]+) messages passed DMARC/.exec(text)?.[1]);
  };
  const unlisted = number(/([\d,]+) messages? of this range came from addresses/.exec(page)?.[1]);
  const { body } = await api.get(`/v1/external/domains/${id}/reports`, account);
  const ofReports = body.data.map((report: { total_messages: number }) => report.total_messages);
  return {
    listed: rows.map(([, , messages]) => number(messages)),
    ofSources: await Promise.all(rows.map(([, address]) => ofSource(address))),
    unlisted,
    ofReports: ofReports.reduce((sum: number, messages: number) => sum + messages, 0),
  };
}

test('chart, text, table, API and explanation show the same figures of any history', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ([good, bad]) => {
      const { id, name } = await aDomain(api.db, account.id);
      const days = [...good, bad].map((counts, i) => ({ ...counts, day: addDays(NEWEST, i - 8) }));
      const reports = days.map(({ day, ...counts }) => ({
        ...aReport({
          domain: name,
          begin: `${day}T00:00:00Z`,
          totalMessages: counts.messages,
          alignedMessages: counts.aligned,
        }),
        sources: toSources(counts),
      }));
      await receive(api.db, reports, NOW);
      await evaluate({ store: api.store, thresholds, now: () => new Date(NOW) }, [id]);

      const figures = await readFigures(id);
      const { drop_pct: drop, prev_pass_rate: prev, curr_pass_rate: curr } = figures.context;
      const words = (count: number) => count.toLocaleString('en');
      const [messages, failed] = [words(bad.messages), words(bad.messages - bad.aligned)];
      expect(figures).toMatchObject({
        chart: [`${curr}%`, messages],
        bar: [messages, failed],
        table: [messages, failed, `${curr.toFixed(2)}%`],
        report: [messages, failed, `${curr.toFixed(2)}%`],
        alert: [`${drop}`, `${prev}%`, `${curr}%`, failed, messages],
        explained: [`${curr}`, `${bad.messages}`, `${drop}`, `${prev}`],
      });
      expect(figures.total).toEqual(figures.headline);
      // Each of the two rates is rounded, and so is their difference: after it was taken.
      expect(Math.abs(drop - (prev - curr))).toBeLessThan(0.02);
      const sums = await readSums(id);
      const listed = sums.listed.reduce((sum, messages) => sum + messages, 0);
      expect(sums.ofSources).toEqual(sums.listed);
      expect(words(listed + sums.unlisted)).toBe(figures.total?.[1]);
      expect(words(sums.ofReports)).toBe(figures.total?.[1]);
      const overview = toReadable((await browser.get('/settings/overview?page=1')).text);
      const rate = Number.parseFloat(figures.headline?.[0] ?? '');
      expect(overview).toContain(` ${rate.toFixed(2)}% `);
    }),
    // Shrinking would ask for more pages than a person may.
    { numRuns: 8, endOnFailure: true },
  );
});
