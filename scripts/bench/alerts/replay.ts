import { type EvaluateDeps, evaluate } from '../../../src/alerts/evaluate.ts';
import { checkDomain } from '../../../src/dns/record-watch.ts';
import { RULES } from '../../../src/domain/alerts/registry.ts';
import { DEFAULT_THRESHOLDS as thresholds } from '../../../src/domain/alerts/thresholds.ts';
import type { RecordType } from '../../../src/domain/dns/dns-record.ts';
import { daysBetween, toDay, toInstant } from '../../../src/domain/instant.ts';
import { insertAccount } from '../../../src/store/accounts/accounts.ts';
import { insertDomain } from '../../../src/store/domains/domains.ts';
import type { Db } from '../../../src/store/engine/database.ts';
import { openStore } from '../../../src/store/engine/open.ts';
import { type MadeUpInput, receiveInputs } from '../../receive.ts';
import { print } from '../compare.ts';
import { reportsOf } from './reports.ts';
import {
  DOMAINS,
  FIRST_DAY,
  type Incident,
  isDuring,
  YEAR_DAYS,
  type YearOfDomain,
} from './year.ts';

const HOUR_MS = 3_600_000;

const PLANTED = DOMAINS.flatMap(({ name, incidents }) =>
  incidents.map((incident) => ({ name, incident })),
);

interface Fired {
  readonly domain: string;
  readonly type: string;
  readonly firedAt: string;
  readonly resolvedAt: string | null;
}

/** Replays a year with planted incidents hour by hour, and prints which alerts of each type were right. */
export async function benchReplay(): Promise<void> {
  const fired = await replay();
  print(`\nA year of ${DOMAINS.length} domains, replayed hour by hour`);
  for (const { type } of RULES) print(`  ${renderType(type, fired)}`);
  const wrong = fired.filter((alert) => !PLANTED.some((planted) => isOf(alert, planted)));
  for (const { domain, type, firedAt, resolvedAt } of wrong)
    print(`  not planted: ${type} of ${domain}, ${firedAt} to ${resolvedAt}`);
  for (const { name, kind, incidents } of DOMAINS.filter((d) => d.incidents.length === 0)) {
    const alerts = fired.filter(({ domain }) => domain === name).length;
    print(`  ${name}, ${kind}: ${alerts} alerts for ${incidents.length} incidents (goal 0)`);
  }
}

/** Every hour the due reports are stored and all domains are evaluated. DNS is checked as well. */
async function replay(): Promise<Fired[]> {
  const store = await openStore(':memory:');
  let clock = Date.parse(FIRST_DAY);
  const now = () => new Date(clock);
  const account = { name: 'A', plan: 'pro', now: FIRST_DAY } as const;
  const { id: accountId } = await insertAccount(store.db, account);
  const domains: { id: string; name: string; year: YearOfDomain }[] = [];
  for (const year of DOMAINS) {
    const { id } = await insertDomain(store.db, { accountId, name: year.name, now: FIRST_DAY });
    domains.push({ id, name: year.name, year });
  }
  const ids = domains.map(({ id }) => id);
  const due = planArrivals();
  const deps: EvaluateDeps = { store, thresholds, now };
  for (let hour = 24; hour < (YEAR_DAYS + 3) * 24; hour++) {
    clock = Date.parse(FIRST_DAY) + hour * HOUR_MS;
    await receive(store.db, due.get(hour) ?? [], { hour, at: toInstant(now()) });
    await evaluate(deps, ids);
    // Two checks a day are enough to detect a change within a day.
    if (hour % 12 !== 0) continue;
    const lookUp = toLookUp(Math.floor(hour / 24));
    const evaluateOne = (domainId: string) => evaluate(deps, [domainId]);
    const watching = { ...deps, lookUp, evaluate: evaluateOne };
    for (const domain of domains) await checkDomain(watching, domain);
  }
  const rows = await store.db
    .selectFrom('alert')
    .innerJoin('domain', 'domain.id', 'alert.domain_id')
    .select(['domain.name as domain', 'type', 'fired_at as firedAt', 'resolved_at as resolvedAt'])
    .execute();
  await store.close();
  return rows;
}

type Arrivals = MadeUpInput['documents'];

/** Reports by the hour in which they arrive, counted from the first day. */
function planArrivals(): Map<number, Arrivals> {
  const due = new Map<number, Arrivals>();
  for (const domain of DOMAINS)
    for (let day = 0; day < YEAR_DAYS; day++)
      for (const { report, delayHours } of reportsOf(domain, day)) {
        const hour = (day + 1) * 24 + delayHours;
        due.set(hour, [...(due.get(hour) ?? []), { member: [], content: report }]);
      }
  return due;
}

async function receive(
  db: Db,
  documents: Arrivals,
  { hour, at }: { hour: number; at: string },
): Promise<void> {
  if (documents.length === 0) return;
  await receiveInputs(db, [{ name: 'bench', bytes: Buffer.from(`hour ${hour}`), documents }], at);
}

/** The records of a day. Sometimes the resolver gives no answer, or blanks and order change. */
function toLookUp(day: number) {
  return async (type: RecordType, name: string) => {
    const planted = DOMAINS.find((domain) => domain.name === name)?.incidents ?? [];
    const during = (alert: string) => planted.some((i) => i.type === alert && isDuring(i, day));
    if (day % 17 === 5) return undefined;
    return type === 'dmarc'
      ? toDmarc(day, during('alert.policy_weakened'))
      : toSpf(day, during('alert.dns_record_changed'));
  };
}

function toDmarc(day: number, isWeak: boolean): string {
  const policy = isWeak ? 'none' : 'reject';
  return day % 3 === 0 ? `v=DMARC1;p=${policy}` : `v=DMARC1; p=${policy};`;
}

function toSpf(day: number, isChanged: boolean): string {
  const all = isChanged ? '?all' : '-all';
  return day % 2 === 0 ? `v=spf1 mx ${all}` : `v=spf1  mx  ${all}`;
}

function renderType(type: string, all: readonly Fired[]): string {
  const fired = all.filter((alert) => alert.type === type);
  const planted = PLANTED.filter(({ incident }) => incident.type === type);
  const found = planted.filter((incident) => fired.some((alert) => isOf(alert, incident)));
  const right = fired.filter((alert) => planted.some((incident) => isOf(alert, incident)));
  const open = right.filter(({ resolvedAt }) => resolvedAt === null).length;
  return (
    `${type.padEnd(27)} recall ${toRatio(found.length, planted.length)}, ` +
    `precision ${toRatio(right.length, fired.length)}, ${open} of them open still (goal 100 %, 100 %, 0)`
  );
}

/** Whether an alert belongs to an incident: it fires while the incident lasts, or soon after. */
function isOf(
  { domain, type, firedAt }: Fired,
  { name, incident }: { name: string; incident: Incident },
): boolean {
  const day = daysBetween(FIRST_DAY, toDay(firedAt));
  const { from, within, days } = incident;
  const isInTime = day >= from && day <= from + days - 1 + within;
  return domain === name && type === incident.type && isInTime;
}

function toRatio(part: number, whole: number): string {
  return `${whole === 0 ? '–' : `${((100 * part) / whole).toFixed(0)} %`} (${part} of ${whole})`;
}
