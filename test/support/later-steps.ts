import { type Kysely, sql } from 'kysely';
import { MIGRATIONS, type Step, type Steps } from '../../src/store/migrations/all.ts';
import { isPostgres } from '../../src/store/migrations/table.ts';

/* What a later release could do: a column that is filled in, an index, a check. `docs/develop.md` has the rules. */

const COLUMN = 'later';
const BATCH = 400;

interface Later extends Partial<Step> {
  readonly name: string;
}

const aStep = ({ name, ...step }: Later): [string, () => Promise<Step>] => [
  name,
  async () => ({ does: `does ${name}`, locks: 'report', up: async () => {}, ...step }),
];

/** Steps after those of this version. `beforeBatch` gets the number of rows that are filled in. */
export function laterSteps({
  perSecond = 1_000_000,
  beforeBatch = async (_filled: number) => {},
} = {}): Steps {
  const added = {
    name: '0002-add',
    up: (db: Kysely<never>) =>
      db.schema.alterTable('report').addColumn(COLUMN, 'integer').execute(),
  };
  const filled = {
    name: '0003-fill',
    isRepeatable: true,
    rows: { of: 'report', perSecond } as const,
    up: async (db: Kysely<never>) => {
      const { rows } = await sql<{ last: number | null }>`
        select max(seq) as last from report`.execute(db);
      for (let from = 0; from <= (rows[0]?.last ?? 0); from += BATCH) {
        await beforeBatch(from);
        await sql`update report set later = seq % 97
          where later is null and seq > ${from} and seq <= ${from + BATCH}`.execute(db);
      }
    },
  };
  const indexed = {
    name: '0004-index',
    isRepeatable: true,
    up: (db: Kysely<never>) => buildIndex(db, 'report_later', 'on report (domain_seq, later)'),
  };
  return { ...MIGRATIONS, ...Object.fromEntries([added, filled, indexed, ...CHECK].map(aStep)) };
}

/** A check of rows that are there takes as long as reading them, so the lock for adding it is released first. */
const CHECK: readonly Later[] = [
  {
    name: '0005-check',
    up: async (db) => {
      if (!isPostgres(db)) return;
      await sql`alter table report add constraint report_later_least check (later >= 0) not valid`.execute(
        db,
      );
    },
  },
  {
    name: '0006-validate',
    up: async (db) => {
      if (!isPostgres(db)) return;
      await sql`alter table report validate constraint report_later_least`.execute(db);
    },
  },
];

/**
 * Builds an index in a repeatable step, which has nothing else. PostgreSQL builds it while others write; `definition`
 * is what follows the name: `on report (domain_seq, generator)`.
 */
async function buildIndex(db: Kysely<never>, name: string, definition: string): Promise<void> {
  if (!isPostgres(db)) {
    await sql`create index if not exists ${sql.ref(name)} ${sql.raw(definition)}`.execute(db);
    return;
  }
  // It waits for the transactions that have begun before, and nobody waits for it.
  await sql`set lock_timeout = 0`.execute(db);
  if (await isInvalid(db, name)) await sql`drop index concurrently ${sql.ref(name)}`.execute(db);
  const create = sql`create index concurrently if not exists ${sql.ref(name)}`;
  await sql`${create} ${sql.raw(definition)}`.execute(db);
  await sql`reset lock_timeout`.execute(db);
}

/** One whose building was interrupted is there, and is not used. */
async function isInvalid(db: Kysely<never>, name: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`.execute(db);
  return rows.length > 0;
}
