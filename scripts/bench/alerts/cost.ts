import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluate } from '../../../src/alerts/evaluate.ts';
import { DEFAULT_THRESHOLDS as thresholds } from '../../../src/domain/alerts/thresholds.ts';
import { insertAccount } from '../../../src/store/accounts/accounts.ts';
import { findFacts } from '../../../src/store/alerts/alert-facts.ts';
import { insertDomain } from '../../../src/store/domains/domains.ts';
import { openStore } from '../../../src/store/engine/open.ts';
import type { Plan, Reader } from '../../../src/store/engine/reader.ts';
import type { Store } from '../../../src/store/engine/store.ts';
import { receiveInputs } from '../../receive.ts';
import { print } from '../print.ts';
import { reportsOf } from './reports.ts';
import { DOMAINS, dayOf } from './year.ts';

const THREE_YEARS = 1_095;
const DOMAIN_COUNT = 20;
const ROUNDS = 50;

/** The cost of one evaluation of a domain with a new report and three years of days and sources. */
export async function benchCost(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  const store = await openStore(join(folder, 'plumbline.db'));
  try {
    const ids = await fill(store);
    const now = () => new Date(`${dayOf(THREE_YEARS)}T06:00:00Z`);
    await evaluate({ store, thresholds, now }, ids);
    const times: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      const startedAt = performance.now();
      await evaluate({ store, thresholds, now }, ids);
      times.push((performance.now() - startedAt) / ids.length);
    }
    times.sort((a, b) => a - b);
    const [reads, queries] = await countQueries(store, ids[0] ?? '', now());
    print(`\nAn evaluation with three years of history, ${DOMAIN_COUNT} domains in turn`);
    print(
      `  ${(times[ROUNDS / 2] ?? 0).toFixed(3)} ms a domain (goal < 1), ${reads} reads with ${queries} queries`,
    );
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}

async function fill(store: Store): Promise<string[]> {
  const now = dayOf(0);
  const { id: accountId } = await insertAccount(store.db, { name: 'A', plan: 'pro', now });
  const ids: string[] = [];
  for (let i = 0; i < DOMAIN_COUNT; i++) {
    const name = `d${i}.example`;
    ids.push((await insertDomain(store.db, { accountId, name, now })).id);
    await fillDomain(store, name, i);
  }
  return ids;
}

async function fillDomain({ db }: Store, name: string, number: number): Promise<void> {
  const like = DOMAINS[number % DOMAINS.length];
  if (like === undefined) return;
  for (let from = 0; from < THREE_YEARS; from += 100) {
    const days = Array.from({ length: Math.min(100, THREE_YEARS - from) }, (_, i) => from + i);
    const documents = days.flatMap((day) =>
      reportsOf({ ...like, name }, day).map(({ report }) => ({
        member: [`${day}`],
        content: report,
      })),
    );
    const source = { name: 'bench', bytes: Buffer.from(`${name} ${from}`), documents };
    await receiveInputs(db, [source], `${dayOf(from + days.length)}T06:00:00Z`);
  }
}

async function countQueries(store: Store, domainId: string, now: Date): Promise<[number, number]> {
  let [reads, queries] = [0, 0];
  const reader: Reader = {
    ...store.reader,
    readAll: (query) => {
      reads += 1;
      queries += 1;
      return store.reader.readAll(query);
    },
    readPlan: (plan) => {
      reads += 1;
      return store.reader.readPlan(() => counted(plan()));
    },
  };
  function* counted<Result>(plan: Plan<Result>): Plan<Result> {
    let step = plan.next([]);
    while (!step.done) {
      queries += step.value.length;
      step = plan.next(yield step.value);
    }
    return step.value;
  }
  await findFacts(reader, { domainId, now: now.toISOString(), thresholds });
  return [reads, queries];
}
