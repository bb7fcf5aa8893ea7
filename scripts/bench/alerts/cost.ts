import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluate } from '../../../src/alerts/evaluate.ts';
import { DEFAULT_THRESHOLDS as thresholds } from '../../../src/domain/alerts/thresholds.ts';
import { insertAccount } from '../../../src/store/accounts/accounts.ts';
import { insertDomain } from '../../../src/store/domains/domains.ts';
import { openStore } from '../../../src/store/engine/open.ts';
import type { Store } from '../../../src/store/engine/store.ts';
import { receiveInputs } from '../../receive.ts';
import { compare } from '../compare.ts';
import { reportsOf } from './reports.ts';
import { DOMAINS, dayOf } from './year.ts';

const THREE_YEARS = 1_095;
const DOMAIN_COUNT = 20;

/** The cost of one evaluation of a domain with a new report and three years of days and sources. */
export async function benchCost(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  const store = await openStore(join(folder, 'plumbline.db'));
  try {
    const ids = await fill(store);
    const now = () => new Date(`${dayOf(THREE_YEARS)}T06:00:00Z`);
    await evaluate({ store, thresholds, now }, ids);
    const round = async () => {
      const startedAt = performance.now();
      await evaluate({ store, thresholds, now }, ids);
      return { 'ms a domain (goal: 1)': (performance.now() - startedAt) / ids.length };
    };
    await compare(`An evaluation with three years of history, ${ids.length} domains in turn`, [
      { name: 'plumbline', round },
    ]);
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
    const reports = days.flatMap((day) => reportsOf({ ...like, name }, day));
    const documents = reports.map(({ report }, i) => ({ member: [`${i}`], content: report }));
    const source = { name: 'bench', bytes: Buffer.from(`${name} ${from}`), documents };
    await receiveInputs(db, [source], `${dayOf(from + days.length)}T06:00:00Z`);
  }
}
