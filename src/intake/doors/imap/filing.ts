import { FilingFault, type Refusal, toSaid } from './fault.ts';
import type { MailboxOptions } from './options.ts';
import { toPaths } from './paths.ts';
import type { ImapSession } from './session.ts';

const FOLDERS = { processed: 'Processed', rejected: 'Rejected' } as const;
/** How mails are flagged that are not moved: rejected ones stand out. */
const FLAGS = { processed: ['\\Seen'], rejected: ['\\Seen', '\\Flagged'] };

export type Outcome = keyof typeof FOLDERS;

/** Moves or flags mails with a known outcome. Throws a FilingFault when the server refuses to. */
export async function fileMails(
  session: ImapSession,
  done: MailboxOptions['done'],
  { outcome, uids }: { readonly outcome: Outcome; readonly uids: readonly number[] },
): Promise<void> {
  if (done === 'leave' || uids.length === 0) return;
  const range = uids.join(',');
  const folder = FOLDERS[outcome];
  const refusal =
    done === 'flag'
      ? await flag(session, range, FLAGS[outcome])
      : await move(session, range, { outcome, folder });
  if (refusal === undefined) return;
  const what = done === 'flag' ? 'flag mails' : `move mails to ${folder}`;
  const { responseText } = refusal;
  const why = responseText === undefined ? '' : `: ${toSaid(responseText)}`;
  throw new FilingFault(`Mails are read, but the server does not ${what}${why}.`);
}

function flag(session: ImapSession, range: string, flags: string[]): Promise<Refusal | undefined> {
  const options = { uid: true, silent: true };
  return session.attempt(() => session.client.messageFlagsAdd(range, flags, options));
}

/** The folder is made when it is needed. Not every server says that it is missing. */
async function move(
  session: ImapSession,
  range: string,
  { outcome, folder }: { readonly outcome: Outcome; readonly folder: string },
): Promise<Refusal | undefined> {
  const { client } = session;
  const [path = folder] = toPaths(folder, client.namespaces);
  const moveOnce = () => session.attempt(() => client.messageMove(range, path, { uid: true }));
  // A server that refuses this moves mails nevertheless.
  if (outcome === 'processed') await flag(session, range, FLAGS.processed);
  const refusal = await moveOnce();
  if (refusal === undefined) return undefined;
  const notMade = await session.attempt(async () => (await client.mailboxCreate(path)).created);
  if (notMade === undefined) return await moveOnce();
  const isMissing = refusal.serverResponseCode === 'TRYCREATE';
  return isMissing && notMade.responseText !== undefined ? notMade : refusal;
}
