import { describe, expect, test } from 'vitest';
import { addDays, toDay, toInstant } from '../../src/domain/instant.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { serveApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aRecord,
  aReportOf,
  receive,
  UNKNOWN_ID,
} from '../support/builders.ts';
import { findOperation, pathTemplates } from '../support/contract-document.ts';
import { aReadFailure, aReadPolicy, aReadTlsReport } from '../support/tls-report.ts';

/* What a second account gets of each operation of the contract: nothing of the first. A new operation is here by itself. */

/** A domain with a report and an alert. */
async function anAccountWithAll(db: Db, sourceIp: string) {
  const { id: accountId, key } = await anAccount(db);
  const { id: domain_id, name: domain } = await aDomain(db, accountId);
  // In the range that the list of sources has without days.
  const begin = `${addDays(toDay(toInstant(new Date())), -1)}T00:00:00Z`;
  const report = aReportOf([aRecord({ sourceIp, count: 5 })], { domain, begin });
  await receive(db, [report]);
  await anAlert(db, { accountId, domainId: domain_id });
  const details = [aReadFailure({ sendingIp: sourceIp })];
  const policies = [aReadPolicy({ domain, failures: 1, details })];
  const tls = aReadTlsReport({ domain, begin, policies, orgName: domain });
  await receive(db, [tls]);
  return {
    key,
    ids: { domain_id, report_id: toReportId(report), tls_report_id: toReportId(tls) },
  };
}

async function serveTwo() {
  const api = await serveApi();
  const mine = await anAccountWithAll(api.db, '192.0.2.66');
  const theirs = await anAccountWithAll(api.db, '198.51.100.77');
  return { api, mine, theirs };
}

type Ids = Readonly<Record<string, string>>;
const fill = (template: string, ids: Ids) =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
const UNKNOWN: Ids = {
  ...{ domain_id: UNKNOWN_ID, report_id: UNKNOWN_ID, tls_report_id: UNKNOWN_ID },
};
const OF_ONE = /[0-9a-f]{8}-[0-9a-f-]{27}|d\d+\.example|\b\d+\.\d+\.\d+\.\d+\b|plb_live_\w+/g;

/** Ids, names of domains, addresses and prefixes of keys. */
const findOwn = (body: unknown): string[] => JSON.stringify(body).match(OF_ONE) ?? [];

describe.each(pathTemplates)('GET %s', (template) => {
  const isOfOne = template.includes('{');

  test('is the first account’s, and of it the second one gets nothing', async () => {
    const { api, mine, theirs } = await serveTwo();
    const path = fill(template, mine.ids);
    // From the store, and from memory.
    const own = await api.get(path, { key: mine.key });
    expect([own.status, findOwn(own.body).length > 0]).toEqual([200, true]);
    await api.get(path, { key: mine.key });
    const answer = await api.get(path, { key: theirs.key });
    expect(answer.status).toBe(isOfOne ? 404 : 200);
    expect(findOwn(answer.body).filter((text) => findOwn(own.body).includes(text))).toEqual([]);
    if (!isOfOne) return;
    const unknown = await api.get(fill(template, UNKNOWN), { key: theirs.key });
    expect(answer.body).toEqual(unknown.body);
  });

  test('answers the first account’s entity tag with no 304', async () => {
    const { api, mine, theirs } = await serveTwo();
    const path = fill(template, mine.ids);
    const { headers } = await api.get(path, { key: mine.key });
    const asked = { 'If-None-Match': headers['etag'] as string };
    const { status } = await api.get(path, { key: theirs.key, headers: asked });
    expect(status).toBe(isOfOne ? 404 : 200);
  });

  const cursor = findOperation(template)?.parameters.find(({ name }) => name.endsWith('after'));
  if (cursor === undefined) return;
  test('gives nothing for a cursor of the first account', async () => {
    const { api, mine, theirs } = await serveTwo();
    const path = `${fill(template, mine.ids)}?${cursor.name}=`;
    const { headers } = await api.get(`${path}start&limit=1`, { key: mine.key });
    const answer = await api.get(path + headers['plumbline-cursor'], { key: theirs.key });
    expect(answer.status).toBe(isOfOne ? 404 : 422);
  });
});
