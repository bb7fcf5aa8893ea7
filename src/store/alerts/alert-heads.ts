import type { Tx } from '../engine/database.ts';
import { newVersion } from '../lists/heads.ts';
import { insertPoint, newNonce } from '../lists/points.ts';
import { alertList } from '../lists/timeline.ts';

/* The heads of an alert's two lists: its account's and its domain's. */

interface Owners {
  readonly accountId: string;
  readonly domainId: string;
}

/** Gives both lists a new version, after an alert has changed without a new position. */
export async function touchAlertLists(tx: Tx, { accountId, domainId }: Owners): Promise<void> {
  for (const [table, id] of [
    ['domain', domainId],
    ['account', accountId],
  ] as const)
    await tx
      .updateTable(table)
      .set({ alerts_version: newVersion() })
      .where('id', '=', id)
      .execute();
}

/** Updates both heads for an alert that fired (`added` 1) or resolved (0), and gives the change its positions. */
export async function advanceAlertLists(
  tx: Tx,
  { accountId, domainId, added }: Owners & { readonly added: 0 | 1 },
) {
  // Every transaction locks domains before accounts (decision 64).
  const domain_position = await advance(tx, { table: 'domain', id: domainId, added });
  const account_position = await advance(tx, { table: 'account', id: accountId, added });
  return { account_position, domain_position };
}

/** The update takes the lock of the owner's row, so positions become visible in their order on every engine. */
async function advance(
  tx: Tx,
  { table, id, added }: { table: 'account' | 'domain'; id: string; added: 0 | 1 },
): Promise<number> {
  const nonce = newNonce();
  const { alerts_position } = await tx
    .updateTable(table)
    .set((eb) => ({
      alerts_total: eb('alerts_total', '+', added),
      alerts_version: newVersion(),
      alerts_position: eb('alerts_position', '+', 1),
      alerts_nonce: nonce,
    }))
    .where('id', '=', id)
    .returning('alerts_position')
    .executeTakeFirstOrThrow();
  const position = Number(alerts_position);
  await insertPoint(tx, alertList(id), { position, nonce });
  return position;
}
