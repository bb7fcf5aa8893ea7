import { beforeEach, describe, expect, test } from 'vitest';
import { evaluate } from '../../src/alerts/evaluate.ts';
import { DEFAULT_THRESHOLDS } from '../../src/domain/alerts/thresholds.ts';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { settleAlert } from '../../src/store/alerts/alerts.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { pruneReports } from '../../src/store/reports/aging/old-reports.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
import { type Answer, type Api, serveApi, startApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aReport,
  NOW,
  receive,
  resolveAlert,
} from '../support/builders.ts';
import { IS_CITUS } from '../support/citus-databases.ts';
import { aDatabase, backUp } from '../support/store.ts';

let api: Api;
let account: { id: string; key: string };
let domain: { id: string; name: string };
let reports: string;
const ALERTS = '/v1/external/alerts';

beforeEach(async () => {
  api = await serveApi();
  account = await anAccount(api.db);
  domain = await aDomain(api.db, account.id);
  reports = `/v1/external/domains/${domain.id}/reports`;
});

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  api.get(path, { key: account.key, headers, method });
const cursorOf = ({ headers }: Answer) => headers['plumbline-cursor'] as string;
const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);
const receivedAfter = (cursor: string, more = '') =>
  ask(`${reports}?received_after=${cursor}${more}`);
const changedAfter = (cursor: string, more = '') => ask(`${ALERTS}?changed_after=${cursor}${more}`);

/** Stores reports of the domain, one transaction; returns the ids in the order of arrival. */
async function arrive(...begins: string[]): Promise<string[]> {
  const before = cursorOf(await ask(reports));
  const stored = begins.map((begin) => aReport({ domain: domain.name, begin }));
  await receive(api.db, stored);
  return idsOf(await receivedAfter(before, '&limit=200'));
}

const DAYS = ['2026-03-14', '2026-03-01', '2026-03-12'].map((day) => `${day}T00:00:00Z`);

describe('GET /v1/external/domains/{domain_id}/reports?received_after', () => {
  describe('200', () => {
    test('lists what arrived after the cursor, oldest arrival first, whatever it covers', async () => {
      await arrive(...DAYS);
      const cursor = cursorOf(await ask(reports));
      await receive(api.db, [
        aReport({ domain: domain.name, begin: '2026-03-13T00:00:00Z', totalMessages: 1 }),
        aReport({ domain: domain.name, begin: '2026-02-01T00:00:00Z', totalMessages: 2 }),
        aReport({ domain: domain.name, begin: '2026-03-14T00:00:00Z', totalMessages: 3 }),
      ]);
      const { body } = await receivedAfter(cursor);
      expect(body.total).toBe(3);
      const messages = body.data.map((report: { total_messages: number }) => report.total_messages);
      expect(messages).toEqual([1, 2, 3]);
    });

    test('has the same fields as without the cursor', async () => {
      await arrive(...DAYS);
      const [all, some] = [await ask(reports), await receivedAfter('start')];
      expect(new Set(some.body.data.map((item: object) => JSON.stringify(item)))).toEqual(
        new Set(all.body.data.map((item: object) => JSON.stringify(item))),
      );
    });

    test('every 200 of the list has the newest point, whatever the page', async () => {
      await arrive(...DAYS);
      const newest = cursorOf(await ask(reports));
      expect(newest).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      for (const query of ['?limit=1', '?offset=2', '?offset=99999999999999999999'])
        expect(cursorOf(await ask(reports + query)), query).toBe(newest);
      expect(cursorOf(await ask(reports, {}, 'HEAD'))).toBe(newest);
      // From memory.
      expect(cursorOf(await ask(reports))).toBe(newest);
      expect((await receivedAfter(newest)).body).toEqual({ data: [], total: 0 });
    });

    test('the cursor of a page stands behind its last report, and total counts what is left', async () => {
      const ids = await arrive(...DAYS, ...DAYS);
      const met: string[] = [];
      let cursor = 'start';
      for (let left = 6; left >= 0; left -= 2) {
        const answer = await receivedAfter(cursor, '&limit=2');
        expect(answer.body.total).toBe(left);
        met.push(...idsOf(answer));
        cursor = cursorOf(answer);
      }
      expect(met).toEqual(ids);
    });

    test('limit and offset are those of every list', async () => {
      const ids = await arrive(...DAYS, ...DAYS);
      const page = await receivedAfter('start', '&limit=2&offset=3');
      expect([idsOf(page), page.body.total]).toEqual([ids.slice(3, 5), 6]);
      expect(idsOf(await receivedAfter(cursorOf(page)))).toEqual(ids.slice(5));
      const beyond = await receivedAfter('start', '&offset=99999999999999999999');
      expect(beyond.body).toEqual({ data: [], total: 6 });
    });

    test('an empty list gives the same cursor back', async () => {
      const cursor = cursorOf(await ask(reports));
      const again = await receivedAfter(cursor);
      expect([again.body, cursorOf(again)]).toEqual([{ data: [], total: 0 }, cursor]);
      expect(cursorOf(await receivedAfter('start'))).toBe(cursor);
      await arrive(...DAYS);
      expect(cursorOf(await receivedAfter(cursor, '&offset=3'))).toBe(cursor);
    });

    test('a duplicate, a conflict and a rejection are nothing new', async () => {
      const report = aReport({ domain: domain.name, reportId: 'same', payload: 'a' });
      await receive(api.db, [report]);
      const cursor = cursorOf(await ask(reports));
      await receive(api.db, [report, { ...report, payloadSha256: 'other' }]);
      expect((await receivedAfter(cursor)).body.total).toBe(0);
    });

    test('reports that came before the domain was added have arrived too', async () => {
      await receive(api.db, [
        aReport({ domain: 'late.example' }),
        aReport({ domain: 'late.example' }),
      ]);
      const { id } = await aDomain(api.db, account.id, { name: 'late.example' });
      const { body } = await ask(`/v1/external/domains/${id}/reports?received_after=start`);
      expect([body.data.length, body.total]).toEqual([2, 2]);
    });

    test('a corrected report is listed again, with its id and its new content', async () => {
      const wrong = aReport({ domain: domain.name, reportId: 'r', totalMessages: 9, payload: 'a' });
      const right = aReport({ domain: domain.name, reportId: 'r', totalMessages: 5, payload: 'b' });
      await receive(api.db, [wrong]);
      const others = await arrive(...DAYS);
      await receive(api.db, [right]);
      const cursor = cursorOf(await ask(reports));
      const conflict = await api.db.selectFrom('conflict').select('seq').executeTakeFirstOrThrow();
      await preferConflict(api.db, conflict.seq);
      const { body } = await receivedAfter(cursor);
      expect(body).toMatchObject({ data: [{ total_messages: 5 }], total: 1 });
      const all = await receivedAfter('start');
      expect(all.body.total).toBe(4);
      expect(idsOf(all)).toEqual([...others, body.data[0].id]);
    });

    test('of a list that a report was removed from, is what is left, page by page', async () => {
      const gone = aReport({ domain: domain.name, reportId: 'gone', payload: 'a' });
      await receive(api.db, [
        aReport({ domain: domain.name }),
        gone,
        aReport({ domain: domain.name }),
      ]);
      const [first, removed, last] = idsOf(await receivedAfter('start')) as [
        string,
        string,
        string,
      ];
      await removeReport(api.db, removed, NOW);
      const all = await receivedAfter('start');
      expect([idsOf(all), all.body.total]).toEqual([[first, last], 2]);
      const page = await receivedAfter('start', '&limit=1');
      expect(idsOf(await receivedAfter(cursorOf(page)))).toEqual([last]);
      expect((await receivedAfter(cursorOf(await ask(reports)))).body.total).toBe(0);
      expect(idsOf(await receivedAfter('start', '&offset=1'))).toEqual([last]);
    });
  });

  describe('304', () => {
    test('while nothing arrives, and not when something does', async () => {
      await arrive(...DAYS);
      const { headers } = await receivedAfter('start');
      const known = { 'If-None-Match': headers['etag'] as string };
      const again = () => ask(`${reports}?received_after=start`, known);
      expect((await again()).status).toBe(304);
      await arrive(...DAYS);
      expect((await again()).status).toBe(200);
    });
  });

  describe('410', () => {
    const EXPIRED = {
      code: 'cursor_expired',
      message:
        '"received_after" is no longer good. Discard what you have of this list, and begin again with "start".',
    };

    test('for every cursor of before a removal, whatever it stands at, and not for one of after', async () => {
      const ids = await arrive(...DAYS);
      const before = [];
      for (const limit of [1, 2, 3]) before.push(await receivedAfter('start', `&limit=${limit}`));
      await removeReport(api.db, ids[2] as string, NOW);
      for (const answer of before) {
        const tag = { 'If-None-Match': answer.headers['etag'] as string };
        const { status, body } = await ask(`${reports}?received_after=${cursorOf(answer)}`, tag);
        expect([status, body.error]).toEqual([410, EXPIRED]);
      }
      const again = await receivedAfter('start');
      expect(idsOf(again)).toEqual(ids.slice(0, 2));
      await arrive(...DAYS);
      expect((await receivedAfter(cursorOf(again))).body.total).toBe(3);
    });

    test('not for the cursor of a list that was empty before and after it, which memory kept', async () => {
      for (let n = 0; n < 3; n += 1) await receivedAfter('start');
      const [id] = await arrive(NOW);
      await removeReport(api.db, id as string, NOW);
      const empty = await receivedAfter('start');
      expect(empty.body.total).toBe(0);
      expect((await receivedAfter(cursorOf(empty))).status).toBe(200);
    });

    test('not for what happens to other lists, nor when the domain is paused or its reports go by age', async () => {
      await arrive(...DAYS);
      const other = await aDomain(api.db, account.id);
      const removed = aReport({ domain: other.name });
      await receive(api.db, [removed]);
      const cursor = cursorOf(await receivedAfter('start', '&limit=1'));
      await removeReport(api.db, toReportId(removed), NOW);
      await removeDomain(api.db, other.id);
      await updateDomainStatus(api.db, domain.id, 'paused');
      expect((await receivedAfter(cursor)).body.total).toBe(2);
      await updateDomainStatus(api.db, domain.id, 'active');
      const newest = cursorOf(await ask(reports));
      // The last that came is the newest that stays: the one before it has gone.
      await pruneReports(api.db, {
        ...{ before: '2026-03-14' },
        mayGoOn: async () => true,
      });
      expect((await receivedAfter(cursor)).body).toEqual({ data: [], total: 0 });
      const [arrived] = await arrive('2026-03-02T00:00:00Z');
      for (const known of [cursor, newest])
        expect(idsOf(await receivedAfter(known))).toEqual([arrived]);
    });

    test('not when a conflict takes the place of what is removed: it is listed again', async () => {
      const one = { domain: domain.name, reportId: 'r' };
      const conflict = aReport({ ...one, payload: 'b', totalMessages: 7 });
      await receive(api.db, [aReport({ ...one, payload: 'a' }), conflict]);
      const answer = await receivedAfter('start');
      const [id = ''] = idsOf(answer);
      await removeReport(api.db, id, NOW);
      expect((await receivedAfter(cursorOf(answer))).body).toMatchObject({
        data: [{ id, total_messages: 7 }],
        total: 1,
      });
    });

    test('when the account lost the domain, and has it again', async () => {
      await arrive(...DAYS);
      const cursor = cursorOf(await ask(reports));
      await removeDomain(api.db, domain.id);
      expect((await receivedAfter(cursor)).status).toBe(404);
      await aDomain(api.db, account.id, { name: domain.name });
      expect((await receivedAfter(cursor)).status).toBe(410);
      expect((await receivedAfter(cursorOf(await ask(reports)))).status).toBe(200);
    });

    test('a cursor of reports that a restored database does not have, also when it has others', async ({
      skip,
    }) => {
      skip(IS_CITUS);
      const path = await aDatabase();
      const first = await openStore(path);
      const { id: accountId, key } = await anAccount(first.db);
      const { id, name } = await aDomain(first.db, accountId);
      await receive(first.db, [aReport({ domain: name })]);
      await first.close();
      const restore = await backUp(path);
      const follow = async (cursor: string, ...arriving: AggregateReport[]) => {
        const restored = await startApi({ store: await openStore(path) });
        await receive(restored.db, arriving);
        const list = `/v1/external/domains/${id}/reports?received_after=${cursor}`;
        const answer = await restored.get(list, { key });
        await restored.close();
        return answer;
      };
      const kept = cursorOf(await follow('start'));
      const lost = cursorOf(await follow(kept, aReport({ domain: name })));
      await restore();
      const early = await follow(lost);
      const late = await follow(lost, aReport({ domain: name }));
      for (const { status, body } of [early, late]) {
        expect([status, body.error]).toEqual([410, EXPIRED]);
      }
      expect((await follow(kept)).body.total).toBe(1);
    });
  });

  describe('404', () => {
    test('for the domain of another account, with a cursor of its list', async () => {
      const cursor = cursorOf(await ask(reports));
      const other = await anAccount(api.db);
      const answer = await api.get(`${reports}?received_after=${cursor}`, { key: other.key });
      const unknown = await api.get(
        '/v1/external/domains/00000000-0000-4000-8000-000000000000/reports?received_after=start',
        { key: other.key },
      );
      expect([answer.status, answer.text]).toEqual([404, unknown.text]);
    });
  });

  describe('422', () => {
    const MALFORMED =
      '"received_after" must be "start" or a Plumbline-Cursor of this list, given once.';

    test.each([
      '',
      '0',
      '1',
      'START',
      'p',
      'x'.repeat(31),
      'x'.repeat(65),
      '2026-03-14T00:00:00Z',
      'a b',
      '%00',
      'start&received_after=start',
    ])('%s is no cursor', async (value) => {
      const { status, body } = await receivedAfter(value);
      expect([status, body.error]).toEqual([422, { code: 'validation_error', message: MALFORMED }]);
    });

    test('another spelling of a cursor, and one of another list', async () => {
      const cursor = cursorOf(await ask(reports));
      const other = await aDomain(api.db, account.id);
      const others = [
        cursorOf(await ask(`/v1/external/domains/${other.id}/reports`)),
        cursorOf(await ask(ALERTS)),
        cursorOf(await ask(`${ALERTS}?domain_id=${domain.id}`)),
      ];
      for (const value of [...others, `${cursor}A`, `${cursor}=`, cursor.slice(0, -1)]) {
        const { status, body } = await receivedAfter(value);
        expect([status, body.error.message], value).toEqual([422, MALFORMED]);
      }
    });

    test('a cursor with any other bit was never given out', async () => {
      await arrive(NOW);
      const bytes = Buffer.from(cursorOf(await ask(reports)), 'base64url');
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const forged = Buffer.from(bytes);
        forged.writeUInt8(forged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        const { status } = await receivedAfter(forged.toString('base64url'));
        expect(status, `bit ${bit}`).toBe(422);
      }
    });

    test('comes before the look-up of the domain when the text is no cursor', async () => {
      const path = '/v1/external/domains/00000000-0000-4000-8000-000000000000/reports';
      expect((await ask(`${path}?received_after=nonsense`)).status).toBe(422);
    });
  });
});

describe('GET /v1/external/alerts?changed_after', () => {
  const fire = (firedAt = NOW) =>
    anAlert(api.db, { accountId: account.id, domainId: domain.id }, { firedAt });
  const statesOf = ({ body }: Answer): [string, boolean][] =>
    body.data.map((alert: { id: string; resolved_at: string | null }) => [
      alert.id,
      alert.resolved_at !== null,
    ]);

  test('an alert is listed when it fires, and again when it resolves', async () => {
    const old = await fire();
    const before = cursorOf(await ask(ALERTS));
    const id = await fire('2026-01-01T00:00:00Z');
    const fired = await changedAfter(before);
    expect([statesOf(fired), fired.body.total]).toEqual([[[id, false]], 1]);
    await resolveAlert(api.db, old, NOW);
    await resolveAlert(api.db, id, NOW);
    const resolved = await changedAfter(cursorOf(fired));
    expect(statesOf(resolved)).toEqual([
      [old, true],
      [id, true],
    ]);
    expect((await changedAfter(cursorOf(resolved))).body).toEqual({ data: [], total: 0 });
  });

  test('an alert that fired and resolved since is listed once, as it is now', async () => {
    const before = cursorOf(await ask(ALERTS));
    const [a, b] = [await fire(), await fire()];
    await resolveAlert(api.db, a, NOW);
    const answer = await changedAfter(before);
    expect(statesOf(answer)).toEqual([
      [b, false],
      [a, true],
    ]);
    expect(answer.body.total).toBe(2);
    expect(statesOf(await changedAfter(before, '&limit=1&offset=1'))).toEqual([[a, true]]);
  });

  test('new figures of an open alert are no change, and give another ETag', async () => {
    const before = cursorOf(await ask(ALERTS));
    const id = await fire();
    const first = await changedAfter(before);
    const newest = cursorOf(first);
    const empty = await changedAfter(newest);
    await api.db.write((tx) =>
      settleAlert(tx, id, { context: '{"drop_pct":50,"prev_pass_rate":99,"curr_pass_rate":49}' }),
    );
    expect((await changedAfter(newest)).headers['etag']).toBe(empty.headers['etag']);
    const again = await changedAfter(before);
    expect(again.headers['etag']).not.toBe(first.headers['etag']);
    expect(again.body.data[0].context.drop_pct).toBe(50);
  });

  test('when a domain of the account is removed, cursors of before expire', async () => {
    const other = await aDomain(api.db, account.id);
    const kept = await anAlert(api.db, { accountId: account.id, domainId: other.id });
    await fire();
    const before = await changedAfter('start');
    await removeDomain(api.db, domain.id);
    const { status, body } = await changedAfter(cursorOf(before));
    expect([status, body.error.code]).toEqual([410, 'cursor_expired']);
    const again = await changedAfter('start');
    expect([idsOf(again), again.body.total]).toEqual([[kept], 1]);
    expect((await changedAfter(cursorOf(again))).body.total).toBe(0);
    // Of the other domain nothing was removed.
    const path = `&domain_id=${other.id}`;
    expect((await changedAfter(cursorOf(await changedAfter('start', path)), path)).status).toBe(
      200,
    );
  });

  test('a domain has cursors of its own, and only its alerts', async () => {
    const other = await aDomain(api.db, account.id);
    const ofOther = await anAlert(api.db, { accountId: account.id, domainId: other.id });
    const id = await fire();
    const [all, one] = [
      await changedAfter('start'),
      await changedAfter('start', `&domain_id=${domain.id}`),
    ];
    expect([idsOf(all), idsOf(one)]).toEqual([[ofOther, id], [id]]);
    expect(cursorOf(one)).not.toBe(cursorOf(all));
    expect((await changedAfter(cursorOf(one))).status).toBe(422);
    expect((await changedAfter(cursorOf(all), `&domain_id=${domain.id}`)).status).toBe(422);
  });

  test('with a type, each alert of it as it fires and resolves, and nothing else', async () => {
    const type = 'alert.of_tomorrow';
    const owner = { accountId: account.id, domainId: domain.id };
    const fireOther = () => anAlert(api.db, owner, { type });
    const path = '&type=alert.alignment_regression';
    const other = await fireOther();
    const [a, b] = [await fire(), await fire()];
    const first = await changedAfter('start', `${path}&limit=1`);
    expect([statesOf(first), first.body.total]).toEqual([[[a, false]], 2]);
    await resolveAlert(api.db, a, NOW);
    await resolveAlert(api.db, other, NOW);
    const second = await changedAfter(cursorOf(first), path);
    expect([statesOf(second), second.body.total]).toEqual([
      [
        [b, false],
        [a, true],
      ],
      2,
    ]);
    await fireOther();
    const headers = {
      'If-None-Match': (await changedAfter(cursorOf(second), path)).headers['etag'],
    };
    await fireOther();
    const none = `${ALERTS}?changed_after=${cursorOf(second)}${path}`;
    expect((await ask(none, headers as Record<string, string>)).status).toBe(304);
    for (const more of ['', '&type=alert.reports_missing', `${path}&domain_id=${domain.id}`])
      expect((await changedAfter(cursorOf(second), more)).status, more).toBe(422);
  });

  test('total and offset are exact behind many gaps', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 60; n++) ids.push(await fire());
    for (const id of ids.filter((_, n) => n % 3 !== 0)) await resolveAlert(api.db, id, NOW);
    const expected = [...ids.filter((_, n) => n % 3 === 0), ...ids.filter((_, n) => n % 3 !== 0)];
    for (const offset of [0, 1, 19, 20, 21, 59]) {
      const page = await changedAfter('start', `&limit=200&offset=${offset}`);
      expect([idsOf(page), page.body.total]).toEqual([expected.slice(offset), 60]);
    }
  });
});

test('who follows a paused domain gets its reports and no alert, and open alerts resolve after it was resumed', async () => {
  const evaluateAt = (now: string) =>
    evaluate({ store: api.store, thresholds: DEFAULT_THRESHOLDS, now: () => new Date(now) }, [
      domain.id,
    ]);
  const id = await anAlert(api.db, { accountId: account.id, domainId: domain.id });
  const cursors = { reports: cursorOf(await ask(reports)), alerts: cursorOf(await ask(ALERTS)) };
  await updateDomainStatus(api.db, domain.id, 'paused');
  await receive(api.db, [aReport({ domain: domain.name })], '2026-03-16T00:00:00Z');
  expect(await evaluateAt('2026-04-01T00:00:00Z')).toMatchObject({ fired: 0, resolved: 0 });
  expect((await receivedAfter(cursors.reports)).body.total).toBe(1);
  expect((await changedAfter(cursors.alerts)).body.total).toBe(0);
  await updateDomainStatus(api.db, domain.id, 'active', '2026-04-02T00:00:00Z');
  await evaluateAt('2026-04-02T01:00:00Z');
  const { body } = await changedAfter(cursors.alerts);
  expect(body.data).toMatchObject([{ id, context: { resolution: 'paused' } }]);
});
