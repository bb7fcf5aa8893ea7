import { FilingFault, type ServerRefusal, toSaid } from './fault.ts';
import type { MailboxOptions } from './options.ts';
import { toPaths } from './paths.ts';
import type { ImapSession } from './session.ts';

const FOLDERS = { processed: 'Processed', rejected: 'Rejected' } as const;
/** How mails are flagged that are not moved: rejected ones stand out. */
const FLAGS = { processed: ['\\Seen'], rejected: ['\\Seen', '\\Flagged'] };

export type FiledResult = keyof typeof FOLDERS;

/**
 * Moves or flags mails whose result is known. Returns those that the server may not have moved although it says so: when
 * a connection that was lost moves some of them at the same time, Dovecot says OK and moves none. The answer of a move
 * names the mails (COPYUID, RFC 6851, section 4.3). Throws a FilingFault when the server refuses to.
 */
export async function fileMails(
  session: ImapSession,
  done: MailboxOptions['done'],
  { result, uids }: { readonly result: FiledResult; readonly uids: readonly number[] },
): Promise<readonly number[]> {
  if (done === 'leave' || uids.length === 0) return [];
  if (done === 'move') return await move(session, result, uids);
  const refusal = await flag(session, uids, FLAGS[result]);
  if (refusal !== undefined) throw toFault('flag mails', refusal);
  return [];
}

/** The fault has a refusal in the server's words. */
export function toMoveFault(result: FiledResult, refusal: ServerRefusal = {}): FilingFault {
  return toFault(`move mails to ${FOLDERS[result]}`, refusal);
}

function toFault(what: string, { responseText }: ServerRefusal): FilingFault {
  const why = responseText === undefined ? '' : `: ${toSaid(responseText)}`;
  return new FilingFault(`Mails are read, but the server does not ${what}${why}.`);
}

function flag(session: ImapSession, uids: readonly number[], flags: string[]) {
  const options = { uid: true, silent: true };
  return session.attempt(() => session.client.messageFlagsAdd(uids.join(','), flags, options));
}

/** The folder is made when it is needed. Not every server says that it is missing. */
async function move(session: ImapSession, result: FiledResult, uids: readonly number[]) {
  const { client } = session;
  const folder = FOLDERS[result];
  const [path = folder] = toPaths(folder, client.namespaces);
  const named = new Set<number>();
  const moveOnce = () =>
    session.attempt(async () => {
      const answer = await client.messageMove(uids.join(','), path, { uid: true });
      if (answer) for (const uid of answer.uidMap?.keys() ?? []) named.add(uid);
      return answer;
    });
  // A server that refuses this moves mails nevertheless.
  if (result === 'processed') await flag(session, uids, FLAGS.processed);
  let refusal = await moveOnce();
  if (refusal !== undefined) {
    const notMade = await session.attempt(async () => (await client.mailboxCreate(path)).created);
    const isMissing = refusal.serverResponseCode === 'TRYCREATE';
    if (notMade === undefined) refusal = await moveOnce();
    else if (isMissing && notMade.responseText !== undefined) refusal = notMade;
  }
  if (refusal !== undefined) throw toMoveFault(result, refusal);
  return uids.filter((uid) => !named.has(uid));
}
