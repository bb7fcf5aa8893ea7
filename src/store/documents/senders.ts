import { DISPUTED, isAuthenticated } from '../../domain/reports/authentication.ts';
import type { Tx } from '../engine/database.ts';

/** What is known of the mail that a document came in. */
export interface Sender {
  /** Of its mail: domain/reports/authentication.ts. Whether it is disputed is found here. */
  readonly authenticated?: string | null | undefined;
  /** Of one that was not authenticated: the organisational domains of the reporters in whose name it is. */
  readonly claimed?: readonly string[] | undefined;
}

/**
 * Who authenticated once must go on: says which of the mails that were not authenticated are in the name of a reporter that
 * was, before or among these. Returns what is stored of each.
 */
export async function judgeSenders(
  tx: Tx,
  documents: readonly Sender[],
  now: string,
): Promise<(string | null)[]> {
  const names = new Set(documents.flatMap(({ authenticated }) => authenticated || []));
  await insertReporters(tx, [...names].sort(), now);
  const known = await listKnown(tx, new Set(documents.flatMap(({ claimed = [] }) => claimed)));
  return documents.map(({ authenticated = null, claimed = [] }) =>
    !isAuthenticated(authenticated) && claimed.some((name) => known.has(name))
      ? DISPUTED
      : authenticated,
  );
}

async function insertReporters(tx: Tx, names: readonly string[], now: string): Promise<void> {
  if (names.length === 0) return;
  await tx
    .insertInto('reporter')
    .values(names.map((name) => ({ name, authenticated_at: now })))
    .onConflict((oc) => oc.column('name').doNothing())
    .execute();
}

async function listKnown(tx: Tx, names: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  if (names.size === 0) return names;
  const rows = tx
    .selectFrom('reporter')
    .select('name')
    .where('name', 'in', [...names]);
  return new Set((await rows.execute()).map(({ name }) => name));
}
