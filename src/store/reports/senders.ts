import { DAY_MS, type Instant, later } from '../../domain/instant.ts';
import { DAYS_NEW, DISPUTED, NEW } from '../../domain/reports/authentication.ts';
import { isKnownReporter } from '../../domain/reports/reporters.ts';
import type { Tx } from '../engine/database.ts';

/** What is known of the mail that a document came in. */
export interface Sender {
  /** What its mail proves (domain/reports/authentication.ts). Whether it is disputed, or of a new reporter, is found here. */
  readonly authenticated?: string | null | undefined;
  /** The organisational domains of the reporters in whose name it is, when it was not authenticated. */
  readonly claimed?: readonly string[] | undefined;
}

/**
 * Who authenticated once must go on: says which of the mails that were not authenticated are in the name of a reporter that
 * was, before or among these; and which reporters are new. Returns what is stored of each.
 */
export async function judgeSenders(
  tx: Tx,
  documents: readonly Sender[],
  now: Instant,
): Promise<(string | null)[]> {
  const names = new Set(documents.flatMap(({ authenticated }) => authenticated || []));
  await insertReporters(tx, [...names].sort(), now);
  const known = await listKnown(tx, names.union(new Set(documents.flatMap(toClaimed))));
  return documents.map((document) => {
    const { authenticated = null } = document;
    if (authenticated === '')
      return toClaimed(document).some((name) => known.has(name)) ? DISPUTED : '';
    return authenticated !== null && isNew(authenticated, known, now)
      ? `${NEW}${authenticated}`
      : authenticated;
  });
}

const toClaimed = ({ claimed = [] }: Sender): readonly string[] => claimed;

/** When the reporters were authenticated first, by name. */
type Reporters = ReadonlyMap<string, Instant>;

function isNew(name: string, known: Reporters, now: Instant): boolean {
  const first = known.get(name) ?? now;
  return first > later(now, -DAYS_NEW * DAY_MS) && !isKnownReporter(name);
}

async function insertReporters(tx: Tx, names: readonly string[], now: Instant): Promise<void> {
  if (names.length === 0) return;
  await tx
    .insertInto('reporter')
    .values(names.map((name) => ({ name, authenticated_at: now })))
    .onConflict((oc) => oc.column('name').doNothing())
    .execute();
}

async function listKnown(tx: Tx, names: ReadonlySet<string>): Promise<Reporters> {
  if (names.size === 0) return new Map();
  const rows = tx
    .selectFrom('reporter')
    .select(['name', 'authenticated_at'])
    .where('name', 'in', [...names]);
  return new Map((await rows.execute()).map((row) => [row.name, row.authenticated_at]));
}
