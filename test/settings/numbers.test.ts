import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import { evaluate } from '../../src/alerts/evaluate.ts';
import { explain } from '../../src/domain/alerts/explain.ts';
import { RULES } from '../../src/domain/alerts/registry.ts';
import { DEFAULT_THRESHOLDS as thresholds } from '../../src/domain/alerts/thresholds.ts';
import { addDays } from '../../src/domain/instant.ts';
import { findFacts } from '../../src/store/alerts/alert-facts.ts';
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

/** Eight good days and a bad one. */
const history = fc.tuple(fc.array(aDay(0.9, 1), { minLength: 8, maxLength: 8 }), aDay(0, 0.79));

/** All figures of one day or of the whole history, wherever they are shown. */
async function readFigures(id: string) {
  const { text } = await browser.get(`/settings/domains/${id}?days=30`);
  const page = toReadable(text);
  const find = (pattern: RegExp) => pattern.exec(page)?.slice(1);
  const facts = await findFacts(api.store.reader, { domainId: id, now: NOW, thresholds });
  const said = facts === undefined ? [] : explain(regression, facts.facts, thresholds);
  const explained =
    /on 2026-03-14 ([\d.]+) % of (\d+) messages passed, ([\d.]+) points under the ([\d.]+) %/;
  const alerts = await api.get(`/v1/external/alerts?domain_id=${id}`, account);
  return {
    chart: find(/ 14 Mar 2026: ([\d.]+%) of ([\d,]+) messages passed/),
    bar: find(/ 14 Mar 2026: ([\d,]+) messages, ([\d,]+) failed/),
    table: find(/Pass rate 14 Mar 2026 ([\d,]+) ([\d,]+) ([\d.]+%)/),
    report: find(/Mailbox Provider 14 Mar 2026 ([\d,]+) ([\d,]+) ([\d.]+%)/),
    alert: find(
      /fell by ([\d.]+) points, from ([\d.]+%) to ([\d.]+%)\. ([\d,]+) of ([\d,]+) messages/,
    ),
    headline: find(/DMARC/) && find(/ ([\d.]+%) of ([\d,]+) messages passed DMARC/),
    total: find(/Pass rate by day ([\d.]+%) of ([\d,]+) messages passed/),
    explained: explained.exec(said.join(' '))?.slice(1),
    context: alerts.body.data[0]?.context,
  };
}

test('chart, text, table, API and explanation show the same figures of any history', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ([good, bad]) => {
      const { id, name } = await aDomain(api.db, account.id);
      const days = [...good, bad].map((counts, i) => ({ ...counts, day: addDays(NEWEST, i - 8) }));
      const reports = days.map(({ day, messages, aligned }) =>
        aReport({
          domain: name,
          begin: `${day}T00:00:00Z`,
          totalMessages: messages,
          alignedMessages: aligned,
        }),
      );
      await receive(api.db, reports, NOW);
      await evaluate({ store: api.store, thresholds, now: () => new Date(NOW) }, [id]);

      const figures = await readFigures(id);
      const { drop_pct: drop, prev_pass_rate: prev, curr_pass_rate: curr } = figures.context;
      const words = (count: number) => count.toLocaleString('en');
      const [messages, failed] = [words(bad.messages), words(bad.messages - bad.aligned)];
      expect(figures).toMatchObject({
        chart: [`${curr}%`, messages],
        bar: [messages, failed],
        table: [messages, failed, `${curr}%`],
        report: [messages, failed, `${curr}%`],
        alert: [`${drop}`, `${prev}%`, `${curr}%`, failed, messages],
        explained: [`${curr}`, `${bad.messages}`, `${drop}`, `${prev}`],
      });
      expect(figures.total).toEqual(figures.headline);
      expect(drop.toFixed(2)).toBe((prev - curr).toFixed(2));
      const overview = toReadable((await browser.get('/settings/overview?page=1')).text);
      expect(overview).toContain(` ${figures.headline?.[0]} `);
    }),
    { numRuns: 8 },
  );
});
