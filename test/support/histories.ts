import fc from 'fast-check';
import {
  findDomainIds,
  insertDomain,
  updateDomainStatus,
} from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { pruneReports } from '../../src/store/reports/aging/old-reports.ts';
import {
  preferConflict,
  removeConflict,
  removeReport,
} from '../../src/store/reports/corrections.ts';
import { aRecord, aReportOf, NOW, receive, recordsOf } from './builders.ts';
import { aReadTlsReport } from './tls-report.ts';

/** Of two domains that have an account at first, and one that has none. */
export const NAMES = ['a.example', 'b.example', 'unclaimed.example'];
const BEGINS = ['2025-12-31T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-31T23:00:00Z'];
export const ADDRESSES = ['192.0.2.1', '192.0.2.2', '2001:db8::25'];

/** Few identities and contents, so that duplicates and conflicts occur. */
const content = fc
  .tuple(fc.constantFrom(...NAMES), fc.nat(3), fc.constantFrom(...BEGINS), fc.nat(3))
  .map(([domain, id, begin, variant]) => {
    // Each variant of a report has totals of its own, and two patterns.
    const records = ADDRESSES.slice(variant % 3).flatMap((sourceIp, i) => [
      ...recordsOf(sourceIp, 10 * (variant + 1) + i, i),
      aRecord({ sourceIp, count: 2, spf: 'pass', headerFrom: `of-${variant}.example` }),
    ]);
    const payload = [domain, id, begin, variant].join(' ');
    const orgName = `Provider ${id % 2}`;
    return aReportOf(records, { domain, orgName, reportId: `${id}`, begin, payload });
  });

/** Of the other kind, with the same ids as those. */
const tlsContent = fc
  .tuple(fc.constantFrom(...NAMES), fc.nat(3), fc.constantFrom(...BEGINS), fc.nat(3))
  .map(([domain, id, begin, successes]) =>
    aReadTlsReport({ domain, reportId: `${id}`, begin, successes }),
  );

const at = fc.constantFrom('2026-02-01T00:00:00Z', '2026-02-01T09:00:00Z', '2026-02-03T00:00:00Z');

/** Of a file, of a mail that nobody authenticated, in two names, and of a mail that was authenticated. */
const sender = fc.constantFrom(
  {},
  { authenticated: '', claimed: ['stranger.example'] },
  { authenticated: '', claimed: ['provider.example'] },
  { authenticated: 'provider.example' },
  { authenticated: 'google.com' },
);

export const step = fc.oneof(
  fc.record({
    kind: fc.constant('receive' as const),
    contents: fc.array(fc.oneof({ arbitrary: content, weight: 3 }, tlsContent), { maxLength: 8 }),
    at,
    sender,
  }),
  fc.record({
    kind: fc.constantFrom('prefer' as const, 'removeReport' as const, 'removeConflict' as const),
    which: fc.nat(20),
  }),
  fc.record({ kind: fc.constant('prune' as const), before: fc.constantFrom(...BEGINS) }),
  fc.record({
    kind: fc.constantFrom('pause' as const, 'resume' as const, 'join' as const, 'leave' as const),
    which: fc.nat(20),
  }),
);
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Takes a step; a step without a matching row changes nothing. */
export async function take({ db }: Store, taken: Step): Promise<void> {
  if (taken.kind === 'receive')
    return void (await receive(db, taken.contents, taken.at, taken.sender));
  if (taken.kind === 'prune') {
    const before = taken.before.slice(0, 10);
    return void (await pruneReports(db, { before, mayGoOn: async () => true }));
  }
  if (isOfDomain(taken)) return await changeDomain(db, taken);
  const reports = await db.selectFrom('report').select('id').orderBy('seq').execute();
  const conflicts = await db.selectFrom('conflict').select('seq').orderBy('seq').execute();
  const report = reports[taken.which % Math.max(1, reports.length)];
  const conflict = conflicts[taken.which % Math.max(1, conflicts.length)];
  if (taken.kind === 'removeReport' && report) await removeReport(db, report.id, NOW);
  if (taken.kind === 'removeConflict' && conflict) await removeConflict(db, conflict.seq);
  if (taken.kind === 'prefer' && conflict) await preferConflict(db, conflict.seq);
}

const OF_DOMAIN = ['pause', 'resume', 'join', 'leave'] as const;
type DomainStep = Extract<Step, { readonly kind: (typeof OF_DOMAIN)[number] }>;

function isOfDomain(taken: Step): taken is DomainStep {
  return OF_DOMAIN.some((kind) => kind === taken.kind);
}

async function changeDomain(db: Store['db'], { kind, which }: DomainStep): Promise<void> {
  const name = NAMES[which % NAMES.length] as string;
  if (kind === 'join') {
    const accounts = await db.selectFrom('account').select('id').orderBy('seq').execute();
    const accountId = accounts[which % accounts.length]?.id ?? '';
    return void (await insertDomain(db, { accountId, name, now: NOW }).catch(ignore('conflict')));
  }
  const [id] = await findDomainIds(db, [name]);
  if (id === undefined) return;
  const changed =
    kind === 'leave'
      ? removeDomain(db, id)
      : updateDomainStatus(db, id, kind === 'pause' ? 'paused' : 'active', NOW);
  await changed.catch(ignore('not_found'));
}

const ignore = (code: string) => (error: { code?: string }) => {
  if (error.code !== code) throw error;
};

/** The same while another process takes steps too: it may have removed the row. */
export async function takeBeside(store: Store, taken: Step): Promise<void> {
  await take(store, taken).catch(ignore('not_found'));
}
