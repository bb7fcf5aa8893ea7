import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { insertAccount } from '../../../src/store/accounts/accounts.ts';
import { fireAlert, settleAlert } from '../../../src/store/alerts/alerts.ts';
import { insertDomain } from '../../../src/store/domains/domains.ts';
import type { Db } from '../../../src/store/engine/database.ts';
import { openStore } from '../../../src/store/engine/open.ts';
import { print } from '../print.ts';

const ROUNDS = 1_500;
const RECEIVERS = [0, 1, 5];
const NOW = '2026-03-15T04:12:09Z';

/** What receivers add to the transaction that fires an alert: accounts with more and more of them, in turn. */
export async function benchFiring(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  const { db, close } = await openStore(join(folder, 'plumbline.db'));
  try {
    const owners = await Promise.all(RECEIVERS.map((receivers) => anOwner(db, receivers)));
    const micros = owners.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++)
      for (const [i, owner] of owners.entries()) micros[i]?.push(await fire(db, owner));
    const medians = micros.map((all) => all.sort((a, b) => a - b)[ROUNDS / 2] ?? 0);
    print('\nFiring and resolving an alert, the median of transactions in turn');
    for (const [i, median] of medians.entries()) {
      const ratio = (median / (medians[0] ?? 1)).toFixed(2);
      print(`  ${RECEIVERS[i]} receivers: ${median.toFixed(0)} µs, ${ratio} × (goal < 1.1)`);
    }
  } finally {
    await close();
    await rm(folder, { recursive: true });
  }
}

interface Owner {
  readonly accountId: string;
  readonly domainId: string;
}

async function anOwner(db: Db, receivers: number): Promise<Owner> {
  const account = await insertAccount(db, { name: `${receivers}`, plan: 'pro', now: NOW });
  const accountId = account.id;
  const name = `with-${receivers}.example`;
  const { id: domainId } = await insertDomain(db, { accountId, name, now: NOW });
  const row = { account_id: accountId, channel: 'webhook', enabled: 1 } as const;
  const event_types = 'alert.fired alert.resolved report.received';
  for (let i = 0; i < receivers; i++)
    await db.write((tx) =>
      tx
        .insertInto('receiver')
        .values({ ...row, event_types, id: randomUUID() })
        .execute(),
    );
  return { accountId, domainId };
}

const context = { drop_pct: 31.4, prev_pass_rate: 98.74, curr_pass_rate: 67.34 };

/** Returns microseconds. */
async function fire(db: Db, owner: Owner): Promise<number> {
  const type = 'alert.alignment_regression';
  const startedAt = performance.now();
  const id = await db.write((tx) => fireAlert(tx, { ...owner, type, firedAt: NOW, context }));
  await db.write((tx) => settleAlert(tx, id ?? '', { resolved_at: NOW }));
  return (performance.now() - startedAt) * 1_000;
}
