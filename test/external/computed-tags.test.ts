import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { DAY_MS, toInstant } from '../../src/domain/instant.ts';
import { updateDnsRecord } from '../../src/store/alerts/dns-records.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import { updateNames } from '../../src/store/days/names.ts';
import {
  findDomainIds,
  updateDomainStatus,
  updateSendsNoMail,
} from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { operator } from '../../src/store/events/audit.ts';
import { startApi } from '../support/api.ts';
import { aDomain, anAccount, anAlert, aRecord, aReportOf, receive } from '../support/builders.ts';
import { pathTemplates, toPath } from '../support/contract-document.ts';
import { ADDRESSES, NAMES, step, take } from '../support/histories.ts';
import { storesOfHistories } from '../support/store.ts';

/*
 * Every operation of the contract, over random histories: an entity tag stands for one answer. What an operation computes has a
 * version that its file writes by hand, and what that leaves out would be a 304 for a client that has another answer.
 */

const OTHERS = ['mark', 'record', 'alert', 'day', 'name', 'sister', 'mail'] as const;
/** As which all reports of these histories say that somebody sent. */
const SISTER = 'mailer.example';
const RECORDS = ADDRESSES.map((sourceIp) => aRecord({ sourceIp, count: 20 }));

const STEPS = fc.oneof(
  { arbitrary: step, weight: 2 },
  fc.record({
    other: fc.constantFrom(...OTHERS),
    which: fc.nat(20),
  }),
);
type Step = typeof STEPS extends fc.Arbitrary<infer S> ? S : never;

afterEach(() => void vi.useRealTimers());

async function takeOne(store: Store, accountId: string, taken: Step): Promise<void> {
  if ('kind' in taken) return await take(store, taken);
  const { other, which } = taken;
  if (other === 'day') return void vi.setSystemTime(Date.now() + DAY_MS * (1 + which));
  const { db } = store;
  if (other === 'sister') return await changeSister(db, accountId, which);
  const domains = db.selectFrom('domain').select('id').where('account_id', '=', accountId);
  const domainId = (await domains.orderBy('name').execute()).at(which % 2)?.id;
  if (domainId === undefined) return;
  const at = toInstant(new Date());
  if (other === 'alert')
    return void (await anAlert(db, { accountId, domainId }, { firedAt: at, resolvedAt: at }));
  const by = { ...operator(), accountId };
  const sendsNoMail = which % 3 === 0;
  if (other === 'mail') return await updateSendsNoMail(db, { domainId, sendsNoMail }, by);
  const address = ADDRESSES[which % ADDRESSES.length] as string;
  const name = which % 4 === 0 ? null : `mx.of-${which % 4}.example`;
  const expiresAt = toInstant(new Date(Date.now() + DAY_MS));
  if (other === 'name')
    return await updateNames(db, { domainId, now: at }, [{ address, name, expiresAt }]);
  const value = `v=DMARC1; p=${which % 3 === 0 ? 'none' : 'reject'}`;
  const update = () => ({ ...UNKNOWN_RECORD, confirmed: { value } });
  if (other === 'record') return await updateDnsRecord(db, { domainId, type: 'dmarc', at, update });
  const mark = ([null, 'legitimate', 'unknown'] as const)[which % 3] ?? null;
  await updateMark(db, { domainId, subject: address, mark }, by);
}

/** Whether the account has it, and whether it is paused, changes nothing but whose the mail of other domains is. */
async function changeSister(db: Store['db'], accountId: string, which: number): Promise<void> {
  const [id] = await findDomainIds(db, [SISTER]);
  if (id === undefined) await aDomain(db, accountId, { name: SISTER });
  else if (which % 2 === 0) await removeDomain(db, id, { deletesReports: true });
  else await updateDomainStatus(db, id, which % 4 === 1 ? 'paused' : 'active');
}

/** What a server answers that keeps nothing of former requests, by path and entity tag. */
async function readAll(store: Store, key: string): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const fresh = { ...store, reader: { ...store.reader }, close: async () => {} };
  const api = await startApi({ store: fresh, pageCacheBytes: 1 });
  try {
    const domains = await store.db.selectFrom('domain').select(['id', 'seq']).execute();
    const reports = await store.db.selectFrom('report').select(['id', 'domain_seq']).execute();
    const paths = domains.flatMap(({ id: domain_id, seq }) => {
      const ids = reports.filter(({ domain_seq }) => domain_seq === seq).slice(0, 2);
      return (ids.length === 0 ? [{ id: domain_id }] : ids).flatMap(({ id }) =>
        pathTemplates.map((path) => toPath(path, { domain_id, report_id: id, tls_report_id: id })),
      );
    });
    for (const path of new Set(paths)) {
      const { status, headers, text } = await api.get(path, { key });
      if (status === 200) answers.set(`${path} ${headers['etag']}`, text);
    }
  } finally {
    await api.close();
  }
  return answers;
}

test.each(storesOfHistories({ few: [2, 1, 1], full: [30, 5, 3] }))(
  '$where: an entity tag stands for one answer of an operation',
  async ({ open, count: numRuns }) => {
    const history = fc.array(STEPS, { minLength: 4, maxLength: 10, size: 'max' });
    const run = async (steps: readonly Step[]) => {
      vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-02-04T09:00:00Z') });
      const store = await open();
      const { id: accountId, key } = await anAccount(store.db);
      for (const name of NAMES.slice(0, 2)) {
        await aDomain(store.db, accountId, { name });
        await receive(store.db, [
          aReportOf(RECORDS, { domain: name, begin: '2026-02-03T00:00:00Z' }),
        ]);
      }
      const known = new Map<string, string>();
      const compare = async () => {
        for (const [tagged, text] of await readAll(store, key)) {
          expect(text, tagged).toBe(known.get(tagged) ?? text);
          known.set(tagged, text);
        }
      };
      await compare();
      for (const taken of steps) {
        await takeOne(store, accountId, taken);
        await compare();
      }
      await store.close();
      expect(known.size).toBeGreaterThan(20);
    };
    await fc.assert(fc.asyncProperty(history, run), { numRuns, seed: 50, endOnFailure: true });
  },
  1_800_000,
);
