import type { Kysely } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import type { Step, Steps } from '../migrations/all.ts';
import type { Tables } from '../tables.ts';

/** A migration that has not run in a database. */
export interface PendingStep extends Pick<Step, 'does' | 'locks'> {
  readonly migration: string;
  /** About how long it takes, by the number of rows. */
  readonly seconds: number;
  readonly run: () => Promise<void>;
}

/** What a database is migrated with when it is opened. */
export interface MigrateOptions {
  /** Runs the steps. By default all of them, unless they take long. `shown` names the database. */
  readonly migrate?: (pending: readonly PendingStep[], shown: string) => Promise<void>;
  /** Tests have steps of their own. */
  readonly steps?: Steps;
}

/** Steps that take longer are run by `plumbline migrate` only. */
export const MAX_SECONDS = 10;

export async function runQuick(pending: readonly PendingStep[], shown: string): Promise<void> {
  const seconds = pending.reduce((sum, step) => sum + step.seconds, 0);
  if (seconds > MAX_SECONDS)
    throw new Failure(
      'conflict',
      `The database ${shown} has to be migrated first, which takes ${toDuration(seconds)}: run “plumbline ` +
        'migrate”. SQLite needs every process of Plumbline stopped; with PostgreSQL those of the older version go on.',
    );
  for (const step of pending) await step.run();
}

export function toDuration(seconds: number): string {
  if (seconds === 0) return 'a moment';
  return seconds < 120 ? `about ${seconds} s` : `about ${Math.round(seconds / 60)} min`;
}

interface Migrating {
  readonly db: Kysely<Tables>;
  readonly applied: readonly string[];
  readonly steps: Steps;
}

/** `run` is the engine's way to run a step. */
export async function listPending(
  { db, applied, steps }: Migrating,
  run: (name: string, step: Step, seconds: number) => Promise<void>,
): Promise<PendingStep[]> {
  const pending: PendingStep[] = [];
  for (const [migration, load] of Object.entries(steps)) {
    if (applied.includes(migration)) continue;
    const step = await load();
    const seconds = await estimateSeconds(db, step);
    const { does, locks } = step;
    pending.push({ migration, does, locks, seconds, run: () => run(migration, step, seconds) });
  }
  return pending;
}

/** A table that an earlier step makes has no rows yet. */
async function estimateSeconds(db: Kysely<Tables>, { rows }: Step): Promise<number> {
  if (rows === undefined) return 0;
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === rows.of)) return 0;
  const count = db.selectFrom(rows.of).select((eb) => eb.fn.countAll<number>().as('rows'));
  return Math.ceil((await count.executeTakeFirstOrThrow()).rows / rows.perSecond);
}

interface StepToRun extends Pick<Migrating, 'db' | 'steps'> {
  readonly name: string;
  readonly isRepeatable?: boolean | undefined;
}

/** Runs a step and records it, unless another process has done so meanwhile: Kysely goes back only by a `down`. */
export async function runStep({ db, steps, name, isRepeatable }: StepToRun): Promise<void> {
  const { Migrator } = await import('kysely/migration');
  const up = (load: Steps[string]) => ({ up: async (on: Kysely<never>) => (await load()).up(on) });
  const migrations = Object.fromEntries(Object.entries(steps).map(([key, of]) => [key, up(of)]));
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateTo(name, { disableTransactions: isRepeatable === true });
  if (error !== undefined) throw error;
}

/** Throws `conflict` when a migration has run that this version does not have. `shown` names the database. */
export function requireKnown(shown: string, applied: readonly string[], steps: Steps): void {
  const unknown = applied.find((name) => !Object.hasOwn(steps, name));
  if (unknown === undefined) return;
  const [first = ''] = Object.keys(steps);
  if (!applied.includes(first))
    throw new Failure(
      'conflict',
      `The database ${shown} is of version 1.1 or older, which no later version migrates. Name a new one in PLUMBLINE_DATABASE, ` +
        'make accounts, people, domains and keys again, and ingest the reports again. Alerts, marks and the audit are lost.',
    );
  throw new Failure(
    'conflict',
    `The database ${shown} was written by another version of Plumbline (migration ${unknown}). ` +
      'Install that version, or restore a backup from before its upgrade.',
  );
}
