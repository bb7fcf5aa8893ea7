import type { ImapFlow } from 'imapflow';
import { DoorFault } from './fault.ts';
import type { ImapOptions } from './options.ts';

/** The folders that mails are moved to. */
const FOLDERS = { processed: 'Processed', rejected: 'Rejected' } as const;
type Outcome = keyof typeof FOLDERS;

/** How mails are marked that are not moved: rejected ones stand out. */
const FLAGS: Readonly<Record<Outcome, readonly string[]>> = {
  processed: ['\\Seen'],
  rejected: ['\\Seen', '\\Flagged'],
};

/** Puts mails with a known outcome where they belong. Throws a DoorFault when the server does not. */
export type File = (outcome: Outcome, uids: readonly number[]) => Promise<void>;

/** Prepares the mailbox, whose folders are made when they are missing. */
export async function prepareFiling(client: ImapFlow, done: ImapOptions['done']): Promise<File> {
  if (done === 'leave') return async () => {};
  if (done === 'flag' || !canMove(client)) return (outcome, uids) => flag(client, outcome, uids);
  for (const folder of Object.values(FOLDERS)) await makeFolder(client, folder);
  return (outcome, uids) => move(client, outcome, uids);
}

/** Without these extensions, removing a mail would remove whatever other people marked as deleted. */
function canMove({ capabilities }: ImapFlow): boolean {
  return capabilities.has('MOVE') || capabilities.has('UIDPLUS');
}

async function makeFolder(client: ImapFlow, folder: string): Promise<void> {
  try {
    await client.mailboxCreate(folder);
  } catch (error) {
    // Older servers answer NO without a code when it is there already.
    const isThere = (await client.list()).some(
      ({ path, name }) => path === folder || name === folder,
    );
    if (!isThere) throw error;
  }
}

async function move(client: ImapFlow, outcome: Outcome, uids: readonly number[]): Promise<void> {
  const folder = FOLDERS[outcome];
  if (!(await client.messageMove(uids.join(','), folder, { uid: true })))
    throw new DoorFault(`The server did not move mails to ${folder}.`);
}

async function flag(client: ImapFlow, outcome: Outcome, uids: readonly number[]): Promise<void> {
  if (!(await client.messageFlagsAdd(uids.join(','), [...FLAGS[outcome]], { uid: true })))
    throw new DoorFault('The server did not flag mails.');
}
