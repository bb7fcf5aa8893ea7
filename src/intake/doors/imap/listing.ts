import type { ImapFlow } from 'imapflow';
import { DoorFault } from './fault.ts';
import type { ImapLimits } from './limits.ts';
import { toBounded } from './responses.ts';

export interface ListedMail {
  readonly uid: number;
  /** Bytes, as the server says. */
  readonly size: number;
}

/** UIDs from one to another, both included. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** The highest UID in the mailbox; 0 when it is empty. */
export async function findHighestUid(client: ImapFlow): Promise<number> {
  // Tells of mails that came or went since.
  await client.noop();
  const last = await client.fetchOne('*', { uid: true });
  requireOpen(client);
  return last ? last.uid : 0;
}

/** Of a connection that has ended, imapflow gives no mails and no error: it must not count as an empty mailbox. */
export function requireOpen({ usable, mailbox }: ImapFlow): void {
  if (!usable || !mailbox) throw new DoorFault('The server ended the connection.');
}

/**
 * The mails of a range, in windows, ascending. A window without any mail doubles the next one, because UIDs may have
 * large gaps.
 */
export async function* listWindows(
  client: ImapFlow,
  { from, to }: Range,
  { windowUids, maxWindowUids }: ImapLimits,
): AsyncGenerator<{ readonly mails: readonly ListedMail[]; readonly to: number }> {
  let width = windowUids;
  for (let first = from; first <= to; ) {
    const last = Math.min(to, first + width - 1);
    const mails = await listMails(client, { from: first, to: last });
    yield { mails, to: last };
    width = mails.length > 0 ? windowUids : Math.min(maxWindowUids, width * 2);
    first = last + 1;
  }
}

/** The mails of a range, ascending. */
export async function listMails(client: ImapFlow, { from, to }: Range): Promise<ListedMail[]> {
  const mails = new Map<number, ListedMail>();
  const query = { uid: true, size: true };
  const responses = client.fetch(`${from}:${to}`, query, { uid: true });
  for await (const { uid, size = 0 } of toBounded(responses, to - from + 1))
    if (uid >= from && uid <= to && !mails.has(uid)) mails.set(uid, { uid, size });
  requireOpen(client);
  return [...mails.values()].sort((a, b) => a.uid - b.uid);
}
