import { beforeEach, describe, expect, test } from 'vitest';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { settleAlert } from '../../src/store/alerts/alerts.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { operator } from '../../src/store/events/audit.ts';
import { deleteOldChanges } from '../../src/store/lists/changes.ts';
import { pruneReports } from '../../src/store/reports/aging/old-reports.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
import { finishListings } from '../../src/store/reports/listing.ts';
import { type Answer, type Api, serveApi, startApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aRecord,
  aReport,
  aReportOf,
  NOW,
  receive,
  resolveAlert,
  type TestAccount,
} from '../support/builders.ts';
import { IS_CITUS } from '../support/citus-databases.ts';
import { failingDb } from '../support/failing-db.ts';
import { FeedCopy } from '../support/feed-copy.ts';
import { aDatabase, backUp } from '../support/store.ts';

const PATH = '/v1/external/changes';
const LATER = '2026-04-01T00:00:00Z';
let api: Api;
let account: TestAccount;

beforeEach(async () => {
  api = await serveApi();
  account = await anAccount(api.db);
});

const get = (path: string) => api.get(path, { key: account.key });
const read = (query = '') => get(PATH + query);
const cursorOf = ({ headers }: Answer) => headers['plumbline-cursor'] as string;
const typesOf = ({ body }: Answer): string[] => body.data.map(({ type }: { type: string }) => type);
const ofList = async (list: string) => (await get(`/v1/external/${list}`)).body.data;
const always = async () => true;

/** What changed since the answer before. */
function following(answer: Answer) {
  let cursor = cursorOf(answer);
  return async () => {
    const next = await read(`?after=${cursor}`);
    cursor = cursorOf(next);
    return next.body.data;
  };
}

/** Another content of a report, which is preferred. */
async function correct(domain: string, reportId: string): Promise<void> {
  const right = aReport({ domain, reportId, payload: `right ${reportId}`, totalMessages: 99 });
  await receive(api.db, [right]);
  const conflict = api.db.selectFrom('conflict').select('seq').orderBy('seq', 'desc');
  await preferConflict(api.db, (await conflict.executeTakeFirstOrThrow()).seq, LATER);
}

describe('GET /v1/external/changes', () => {
  describe('200', () => {
    test('has a domain that was added, paused, resumed and removed, with its reports', async () => {
      const next = following(await read());
      const { id, name: domain } = await aDomain(api.db, account.id);
      const about = { domain_id: id, at: NOW };
      const listed = { ...about, type: 'domain.listed' };
      const fields = { id, domain, status: 'active' };
      expect(await next()).toEqual([{ ...listed, domain: { ...fields, last_report_at: null } }]);
      await receive(api.db, [aReport({ domain }), aReport({ domain, begin: LATER })]);
      await next();
      await updateDomainStatus(api.db, id, 'paused', LATER);
      expect(await next()).toEqual([{ ...about, type: 'domain.unlisted', at: LATER }]);
      await updateDomainStatus(api.db, id, 'active', LATER);
      const [later, earlier] = await ofList('reports');
      const stored = { type: 'report.stored', domain_id: id, at: expect.any(String) };
      expect(await next()).toEqual([
        { ...listed, at: LATER, domain: { ...fields, last_report_at: NOW } },
        { ...stored, report: earlier },
        { ...stored, report: later },
      ]);
      await removeDomain(api.db, id, { by: operator(LATER) });
      expect(await next()).toEqual([{ ...about, type: 'domain.removed', at: LATER }]);
    });

    test('has a report that was stored, corrected and removed', async () => {
      const { id, name: domain } = await aDomain(api.db, account.id);
      const next = following(await read());
      const report = aReport({ domain, reportId: 'r', payload: 'wrong' });
      await receive(api.db, [report]);
      const stored = { type: 'report.stored', domain_id: id, at: NOW };
      expect(await next()).toEqual([{ ...stored, report: (await ofList('reports'))[0] }]);
      await correct(domain, 'r');
      const [corrected] = await ofList('reports');
      expect(corrected.total_messages).toBe(99);
      expect(await next()).toEqual([{ ...stored, at: LATER, report: corrected }]);
      const { seq } = await api.db.selectFrom('conflict').select('seq').executeTakeFirstOrThrow();
      await api.db.write((tx) => tx.deleteFrom('conflict').where('seq', '=', seq).execute());
      await removeReport(api.db, toReportId(report), LATER);
      const removed = { type: 'report.removed', report_id: toReportId(report) };
      expect(await next()).toEqual([{ ...removed, domain_id: id, at: LATER }]);
    });

    test('has an alert that fired, got new figures, and resolved', async () => {
      const { id: domainId } = await aDomain(api.db, account.id);
      const next = following(await read());
      const id = await anAlert(api.db, { accountId: account.id, domainId });
      const changed = { type: 'alert.changed', domain_id: domainId, at: NOW };
      expect(await next()).toEqual([{ ...changed, alert: (await ofList('alerts'))[0] }]);
      const context = { drop_pct: 50, prev_pass_rate: 99, curr_pass_rate: 49 };
      const figures = { context: JSON.stringify(context) };
      await api.db.write((tx) => settleAlert(tx, id, figures));
      expect(await next()).toMatchObject([{ alert: { id, resolved_at: null, context } }]);
      await resolveAlert(api.db, id, LATER);
      const [alert] = await ofList('alerts');
      expect(await next()).toEqual([{ ...changed, at: LATER, alert }]);
    });

    test('has what changed twice once, where it changed last, as it is now', async () => {
      const { id: domainId, name: domain } = await aDomain(api.db, account.id);
      const alert = await anAlert(api.db, { accountId: account.id, domainId });
      await receive(api.db, [aReport({ domain, reportId: 'r', payload: 'wrong' })]);
      await receive(api.db, [aReport({ domain })]);
      await resolveAlert(api.db, alert, LATER);
      await correct(domain, 'r');
      const { data } = (await read()).body;
      expect(data).toMatchObject([
        { type: 'domain.listed' },
        { type: 'report.stored', report: { total_messages: 10 } },
        { type: 'alert.changed', alert: { resolved_at: LATER } },
        { type: 'report.stored', report: { total_messages: 99 } },
      ]);
    });

    test('has nothing of a paused domain, of a duplicate, a conflict or another account', async () => {
      const { name: domain } = await aDomain(api.db, account.id);
      const paused = await aDomain(api.db, account.id, { status: 'paused' });
      const report = aReport({ domain, reportId: 'r', payload: 'a' });
      await receive(api.db, [report]);
      const next = following(await read());
      const other = await anAccount(api.db);
      const { name } = await aDomain(api.db, other.id);
      const conflict = aReport({ domain, reportId: 'r', payload: 'b' });
      await receive(api.db, [report, conflict, aReport({ domain: paused.name })]);
      await receive(api.db, [aReport({ domain: name })]);
      expect(await next()).toEqual([]);
      const types = typesOf(await read());
      expect(types).toEqual(['domain.listed', 'domain.unlisted', 'report.stored']);
    });

    test('comes page by page: has_more says whether to ask again, and nothing comes twice', async () => {
      const [a, b] = [await aDomain(api.db, account.id), await aDomain(api.db, account.id)];
      for (const { id, name: domain } of [a, b, a]) {
        await receive(api.db, [aReport({ domain }), aReport({ domain, begin: LATER })]);
        await anAlert(api.db, { accountId: account.id, domainId: id });
      }
      const whole = await read();
      expect([whole.body.data.length, whole.body.has_more]).toEqual([11, false]);
      expect((await read('?after=start')).body).toEqual(whole.body);
      for (const limit of [1, 2, 10, 11]) {
        const met = [];
        let page = await read(`?limit=${limit}`);
        for (; page.body.has_more; page = await read(`?limit=${limit}&after=${cursorOf(page)}`)) {
          expect(page.body.data).toHaveLength(limit);
          met.push(...page.body.data);
        }
        expect([...met, ...page.body.data]).toEqual(whole.body.data);
        expect((await read(`?after=${cursorOf(page)}`)).body).toEqual(NONE);
      }
      expect((await api.get(PATH, { key: account.key, method: 'HEAD' })).text).toBe('');
    });

    test('of an account without changes gives a cursor that stays good', async () => {
      const empty = await read();
      expect([empty.body, (await read(`?after=${cursorOf(empty)}`)).body]).toEqual([NONE, NONE]);
      await aDomain(api.db, account.id);
      expect(typesOf(await read(`?after=${cursorOf(empty)}`))).toEqual(['domain.listed']);
    });

    test('a domain with more reports than one transaction lists: they follow it in any state', async () => {
      const [domain, copy] = ['late.example', new FeedCopy()];
      await receive(
        api.db,
        Array.from({ length: 5 }, () => aReport({ domain })),
      );
      await copy.finish(get);
      const { id } = await aDomain(api.db, account.id, { name: domain });
      for (const status of ['paused', 'active'] as const) {
        await noteOnly(api.db, id, status);
        for (let isWhole = false; !isWhole; ) {
          isWhole = await finishListings(api.db, async () => false, 2);
          await copy.finish(get, 1);
        }
        await copy.hold(get);
      }
    });

    test('a domain that was paused and resumed by processes that were killed was dropped with its reports', async () => {
      const { id, name: domain } = await aDomain(api.db, account.id);
      await receive(api.db, [aReport({ domain }), aReport({ domain })]);
      const [copy, late] = [new FeedCopy(), new FeedCopy()];
      await copy.finish(get);
      for (const status of ['paused', 'active'] as const) await noteOnly(api.db, id, status);
      await finishListings(api.db, always);
      for (const one of [copy, late]) {
        await one.finish(get);
        await one.hold(get);
        expect(one.reports.size).toBe(2);
      }
    });

    test('has no report of a domain that it has not listed, while processes that are killed pause and resume it', async () => {
      const { id, name: domain } = await aDomain(api.db, account.id);
      await aDomain(api.db, account.id, { name: 'other.example' });
      const reports = Array.from({ length: 5 }, () => aReport({ domain }));
      await receive(api.db, [...reports, aReport({ domain: 'other.example' })]);
      for (const status of ['paused', 'active', 'paused', 'active'] as const) {
        await noteOnly(api.db, id, status);
        for (let isWhole = false; !isWhole; ) {
          const fresh = new FeedCopy();
          await fresh.finish(get, 2);
          expect(fresh.reports.size).toBeLessThan(status === 'paused' ? 2 : 7);
          isWhole = await finishListings(api.db, async () => false, 2);
        }
      }
      const whole = new FeedCopy();
      await whole.finish(get);
      await whole.hold(get);
      expect(whole.reports.size).toBe(6);
    });

    test('of which the rows have gone, says when its object came', async () => {
      const { id, name: domain } = await aDomain(api.db, account.id);
      await receive(api.db, [aReport({ domain })], LATER);
      await forgetChanges(api.db);
      await anAlert(api.db, { accountId: account.id, domainId: id }, { firedAt: NOW });
      const moments = (await read()).body.data.map(({ at }: { at: string }) => at);
      expect(moments).toEqual([NOW, LATER, NOW]);
    });
  });

  describe('include=records', () => {
    /** Reports that have so many records each. */
    const receiveOf = async (...counts: number[]) => {
      const { id, name: domain } = await aDomain(api.db, account.id);
      const reports = counts.map((count) => {
        const toOne = (_: unknown, n: number) => aRecord({ count: count - n, spfDomain: LONG });
        return aReportOf(Array.from({ length: count }, toOne), { domain });
      });
      await receive(api.db, reports);
      return { domain, path: `/v1/external/domains/${id}/reports` };
    };
    /** As long as names get: a record has 600 bytes. */
    const LONG = `${'x'.repeat(250)}.test`;
    const ofReports = ({ body }: Answer) =>
      (body.data as { report?: Answer['body'] }[]).flatMap(({ report }) => report ?? []);
    const sizesOf = (page: Answer) => ofReports(page).map(({ records }) => records.length);

    test('has the records of each report as its own list has them; without it there are none', async () => {
      const { path } = await receiveOf(0, 3);
      const [none, some] = ofReports(await read('?include=records'));
      expect([none.records, none.unlisted_records]).toEqual([[], 0]);
      const own = await get(`${path}/${some.id}/records`);
      expect(own.body).toEqual({ data: some.records, total: 3, revision: 1 });
      expect(ofReports(await read())[1]).not.toHaveProperty('records');
    });

    test('a report that was corrected has the other records, and the next revision', async () => {
      const { name: domain } = await aDomain(api.db, account.id);
      await receive(api.db, [aReportOf([aRecord()], { domain, reportId: 'r' })]);
      const cursor = cursorOf(await read());
      await correct(domain, 'r');
      const [corrected] = ofReports(await read(`?include=records&after=${cursor}`));
      expect(corrected).toMatchObject({ revision: 2, records: [], unlisted_records: 2 });
      await correct(domain, 'r');
      expect(ofReports(await read())).toMatchObject([{ revision: 3 }]);
    });

    test('a page ends before the report that does not fit into 4 MiB; one alone has what fits', async () => {
      await receiveOf(2_500, 2_500, 2_500, 10_000, 1);
      await receiveOf(1);
      const pages = [await read('?include=records&limit=1000')];
      for (let last = pages[0] as Answer; last.body.has_more; pages.push(last)) {
        expect(last.headers['link']).toContain('include=records');
        last = await read(`?include=records&limit=1000&after=${cursorOf(last)}`);
      }
      for (const { text } of pages) expect(text.length).toBeLessThan(4 * 1024 * 1024 + 100);
      const [, , , large] = pages.flatMap(ofReports);
      expect(large.records.length + large.unlisted_records).toBe(10_000);
      expect(pages.map(sizesOf)).toEqual([[2_500, 2_500], [2_500], [large.records.length], [1, 1]]);
      const { text } = pages[2] as Answer;
      expect(text.length).toBeGreaterThan(4 * 1024 * 1024 - 1_000);
    });

    test('of a report whose content is damaged has none, and what comes after it', async () => {
      await receiveOf(1, 2);
      await api.db.write((tx) => {
        const damaged = tx.updateTable('report').set({ content: Buffer.from('damaged') });
        return damaged.where('record_count', '=', 1).execute();
      });
      expect(ofReports(await read('?include=records'))).toMatchObject([
        { records: [], unlisted_records: 1 },
        { records: [{}, {}], unlisted_records: 0 },
      ]);
    });
  });

  test('has up to 1,000 items', async () => {
    const { name: domain } = await aDomain(api.db, account.id);
    await receive(
      api.db,
      Array.from({ length: 1_000 }, () => aReport({ domain })),
    );
    const { body } = await read('?limit=1000');
    expect([body.data.length, body.has_more]).toEqual([1_000, true]);
  });

  describe('a copy that is kept by it equals the lists', () => {
    let domain: { readonly id: string; readonly name: string };
    let other: { readonly id: string; readonly name: string };
    let alert: string;
    const first = async () => (await ofList(`domains/${domain.id}/reports`))[0].id as string;

    beforeEach(async () => {
      domain = await aDomain(api.db, account.id);
      other = await aDomain(api.db, account.id);
      const reports = [1, 2, 3].map(() => aReport({ domain: domain.name }));
      await receive(api.db, [...reports, aReport({ domain: other.name, reportId: 'r' })]);
      await receive(api.db, [aReport({ domain: 'late.example' }), aReport()]);
      alert = await anAlert(api.db, { accountId: account.id, domainId: domain.id });
    });

    const figures = '{"drop_pct":50,"prev_pass_rate":99,"curr_pass_rate":49}';
    const STEPS: Readonly<Record<string, () => Promise<unknown>>> = {
      'reports came': () => receive(api.db, [aReport({ domain: domain.name })], LATER),
      'a report was corrected': () => correct(other.name, 'r'),
      'a report was removed': async () => removeReport(api.db, await first(), LATER),
      'a domain was paused': () => updateDomainStatus(api.db, domain.id, 'paused'),
      'a domain was paused and resumed': async () => {
        await updateDomainStatus(api.db, domain.id, 'paused');
        await updateDomainStatus(api.db, domain.id, 'active');
      },
      'a domain with reports was added': () =>
        aDomain(api.db, account.id, { name: 'late.example' }),
      'a domain was removed': () => removeDomain(api.db, domain.id),
      'a domain was removed with its reports': () =>
        removeDomain(api.db, domain.id, { deletesReports: true }),
      'a domain was removed and added again': async () => {
        await removeDomain(api.db, domain.id);
        await aDomain(api.db, account.id, { name: domain.name });
      },
      'a domain went to another account': async () => {
        await removeDomain(api.db, domain.id);
        await aDomain(api.db, (await anAccount(api.db)).id, { name: domain.name });
      },
      'an alert fired': () => anAlert(api.db, { accountId: account.id, domainId: other.id }),
      'an alert got new figures': () =>
        api.db.write((tx) => settleAlert(tx, alert, { context: figures })),
      'an alert resolved': () => resolveAlert(api.db, alert, LATER),
    };

    test.each(Object.entries(STEPS))('after %s', async (_what, step) => {
      const copies = [new FeedCopy(), new FeedCopy(), new FeedCopy()] as const;
      const [, begun, early] = copies;
      await begun.ask(get, 2);
      await early.finish(get);
      await step();
      for (const copy of copies) {
        await copy.finish(get, 3);
        await copy.hold(get);
        expect(copy.begunAgain).toBe(0);
      }
    });

    test('at the cost of two items at most for a pause, a removal and a correction, besides reports that come back', async () => {
      const copy = new FeedCopy();
      await copy.finish(get);
      const late = new FeedCopy();
      late.cursor = copy.cursor;
      for (const [id, one] of copy.domains) late.domains.set(id, one);
      const costs: Readonly<Record<string, () => Promise<unknown>>> = {
        'domain.unlisted': () => updateDomainStatus(api.db, domain.id, 'paused'),
        'domain.listed': () => updateDomainStatus(api.db, domain.id, 'active'),
        'report.removed': async () => removeReport(api.db, await first(), LATER),
        'report.stored': () => correct(other.name, 'r'),
      };
      for (const [type, step] of Object.entries(costs)) {
        const before = copy.met.length;
        await step();
        await copy.finish(get);
        const [cost, ...back] = copy.met.slice(before);
        expect([cost?.type, ...back.map((one) => one.type)]).toEqual([
          type,
          ...(type === 'domain.listed' ? Array(3).fill('report.stored') : []),
        ]);
      }
      await late.finish(get);
      expect(late.begunAgain).toBe(0);
      await copy.hold(get);
    });

    test('but for reports that go by age: nothing tells of them, and cursors stay good', async () => {
      const copy = new FeedCopy();
      await copy.finish(get);
      await receive(api.db, [aReport({ domain: domain.name, begin: LATER })]);
      await pruneReports(api.db, { before: '2026-04-01', mayGoOn: always });
      await copy.finish(get);
      expect([copy.reports.size, copy.begunAgain]).toEqual([5, 0]);
      await copy.hold(get, (report) => (report as { begin_date?: string }).begin_date === LATER);
    });
  });

  describe('304', () => {
    test('while nothing changes, also by HEAD, and not when something does or goes by age', async () => {
      const { id, name: domain } = await aDomain(api.db, account.id);
      await receive(api.db, [aReport({ domain }), aReport({ domain, begin: LATER })]);
      const changes = [
        () => receive(api.db, [aReport({ domain })]),
        () => anAlert(api.db, { accountId: account.id, domainId: id }),
        () => pruneReports(api.db, { before: '2026-04-01', mayGoOn: always }),
        () => updateDomainStatus(api.db, id, 'paused'),
      ];
      for (const change of changes) {
        const known = { 'If-None-Match': (await read()).headers['etag'] as string };
        const ask = (method = 'GET') => api.get(PATH, { key: account.key, headers: known, method });
        expect([(await ask()).status, (await ask('HEAD')).status]).toEqual([304, 304]);
        await change();
        expect((await ask()).status).toBe(200);
      }
    });

    test('never for a page that follows, by the tag of the page before', async () => {
      const { name: domain } = await aDomain(api.db, account.id);
      await receive(api.db, [aReport({ domain }), aReport({ domain })]);
      const known = (page: Answer) => ({ 'If-None-Match': page.headers['etag'] as string });
      const ask = (after: string, headers = {}) =>
        api.get(`${PATH}?limit=2&after=${after}`, { key: account.key, headers });
      const first = await ask('start');
      const last = await ask(cursorOf(first), known(first));
      expect([last.status, last.body.has_more]).toEqual([200, false]);
      expect((await ask('start', known(last))).status).toBe(200);
      expect((await ask(cursorOf(first), known(first))).status).toBe(200);
      expect((await ask(cursorOf(last), known(last))).status).toBe(304);
    });

    test('never for another account in the same state, nor a page of it from memory', async () => {
      const other = await anAccount(api.db);
      const names = ['one.example', 'two.example'];
      for (const [i, { id }] of [account, other].entries())
        await aDomain(api.db, id, { name: names[i] as string });
      // Both get numbers by the same transaction.
      await receive(
        api.db,
        names.map((domain) => aReport({ domain })),
      );
      const mine = [await read(), await read()];
      const headers = { 'If-None-Match': mine[0]?.headers['etag'] as string };
      const { status, text } = await api.get(PATH, { key: other.key, headers });
      expect([status, text.includes('two.example')]).toEqual([200, true]);
      expect(text).not.toContain('one.example');
    });
  });

  describe('401', () => {
    test('without a key', async () => {
      expect((await api.get(PATH)).status).toBe(401);
    });
  });

  describe('410', () => {
    const EXPIRED = {
      code: 'cursor_expired',
      message:
        '"after" is no longer good. Discard what you have of this list, and begin again with "start".',
    };

    test('for a cursor of changes that a restored database does not have, also when it has others', async ({
      skip,
    }) => {
      skip(IS_CITUS);
      const path = await aDatabase();
      const store = await openStore(path);
      const { id: accountId, key } = await anAccount(store.db);
      const { name: domain } = await aDomain(store.db, accountId);
      await store.close();
      const restore = await backUp(path);
      const follow = async (cursor: string, reports = 0) => {
        const restored = await startApi({ store: await openStore(path) });
        for (let n = 0; n < reports; n += 1) await receive(restored.db, [aReport({ domain })]);
        const answer = await restored.get(`${PATH}?after=${cursor}`, { key });
        await restored.close();
        return answer;
      };
      const kept = cursorOf(await follow('start'));
      const lost = cursorOf(await follow(kept, 2));
      await restore();
      for (const reports of [0, 1, 1, 1]) {
        const { status, body } = await follow(lost, reports);
        expect([status, body.error]).toEqual([410, EXPIRED]);
      }
      expect((await follow(kept)).body.data).toHaveLength(3);
      expect((await follow('start')).body.data).toHaveLength(4);
    });

    test('for a cursor of changes that have gone after 400 days, and not for one of the oldest that is kept', async () => {
      const { name: domain } = await aDomain(api.db, account.id);
      const old = cursorOf(await read());
      await receive(api.db, [aReport({ domain })]);
      await forgetChanges(api.db);
      const kept = cursorOf(await read());
      await receive(api.db, [aReport({ domain })]);
      const { status, body } = await read(`?after=${old}`);
      expect([status, body.error]).toEqual([410, EXPIRED]);
      expect(typesOf(await read(`?after=${kept}`))).toEqual(['report.stored']);
      expect(typesOf(await read())).toEqual(['domain.listed', 'report.stored', 'report.stored']);
    });
  });

  describe('422', () => {
    const MALFORMED = '"after" must be "start" or a Plumbline-Cursor of this list, given once.';

    test.each(['', '0', 'START', 'x'.repeat(34), 'x'.repeat(65), '%00', 'start&after=start'])(
      '%s is no cursor',
      async (value) => {
        const { status, body } = await read(`?after=${value}`);
        const error = { code: 'validation_error', message: MALFORMED };
        expect([status, body.error]).toEqual([422, error]);
      },
    );

    test.each(['0', '1001', 'x', '1&limit=1'])('%s is no limit', async (limit) => {
      const { status, body } = await read(`?limit=${limit}`);
      expect([status, body.error.code]).toEqual([422, 'validation_error']);
    });

    test('for a cursor of another account or list, which does not know one of changes either', async () => {
      const { id } = await aDomain(api.db, account.id);
      const other = await anAccount(api.db);
      const reports = `/v1/external/domains/${id}/reports`;
      const others = [
        await api.get(PATH, { key: other.key }),
        await get(reports),
        await get('/v1/external/alerts'),
      ];
      for (const answer of others) {
        const { status, body } = await read(`?after=${cursorOf(answer)}`);
        expect([status, body.error.message]).toEqual([422, MALFORMED]);
      }
      const own = cursorOf(await read());
      for (const list of [`${reports}?received_after`, '/v1/external/alerts?changed_after'])
        expect((await get(`${list}=${own}`)).status).toBe(422);
    });
  });
});

const NONE = { data: [], has_more: false };

/** As a process leaves it that is killed before it lists the domain's reports, or takes them from the list. */
async function noteOnly(db: Db, id: string, status: 'active' | 'paused'): Promise<void> {
  const noted = db.selectFrom('domain').select('id').where('id', '=', id);
  const isNoted = async () => (await noted.where('status', '=', status).execute()).length > 0;
  for (let steps = 1; !(await isNoted()); steps += 1)
    await updateDomainStatus(failingDb(db, steps).db, id, status).catch(() => undefined);
}

/** As after 400 days. */
async function forgetChanges(db: Db): Promise<void> {
  await db.write((tx) => tx.updateTable('change').set({ at: '2020-01-01T00:00:00Z' }).execute());
  await deleteOldChanges(db, always);
}
