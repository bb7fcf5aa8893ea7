import { type Command, Option } from 'commander';
import type { Instant } from '../../domain/instant.ts';
import { type ListedMail, listMails } from '../../store/inbox/list.ts';
import type { DoneResult, MailState } from '../../store/inbox/tables.ts';
import { parseDay, parseLimit } from '../document/document-list.ts';
import { type OutputOptions, printList } from '../output/output.ts';
import { toShortTime } from '../output/short-time.ts';
import { withStore } from '../with-store.ts';
import { toMailId } from './mail-id.ts';

const DEFAULT_LIMIT = 100;
const STATES = ['waiting', 'claimed', 'stuck', 'done'] as const satisfies readonly MailState[];
const RESULTS = [
  'processed',
  'rejected',
  'ignored',
  'dropped',
] as const satisfies readonly DoneResult[];

interface ListOptions extends OutputOptions {
  readonly state?: MailState;
  readonly result?: DoneResult;
  readonly since?: Instant;
  readonly limit: number;
}

export function addInboxList(inbox: Command): void {
  inbox
    .command('list')
    .description('List the mails that came in by SMTP, by IMAP and through folders, newest first.')
    .addOption(new Option('--state <state>', 'only these').choices(STATES))
    .addOption(new Option('--result <result>', 'only mails with this result').choices(RESULTS))
    .option('--since <day>', 'received on this UTC day or later', parseDay)
    .option('--limit <mails>', 'how many mails', parseLimit, DEFAULT_LIMIT)
    .action(async (options: ListOptions) => {
      const mails = await withStore(({ db }) => listMails(db, options));
      const none = 'No mail has come in, or none that matches.';
      printList(mails.map(toOutput), { none, toColumns }, options);
    });
}

/** A mail as JSON. The id of its parts is of no use outside. */
export function toOutput({ seq, id: _id, envelope, ...mail }: ListedMail) {
  const { sender = null, recipients = [], remoteAddress = null, place = null } = envelope;
  return {
    id: toMailId(seq),
    ...mail,
    sender,
    recipients,
    remote_address: remoteAddress,
    place,
  };
}

function toColumns({ id, received_at, door, sender, place, ...mail }: ReturnType<typeof toOutput>) {
  return {
    id,
    'received (UTC)': toShortTime(received_at),
    door: door.split(':', 1)[0],
    'from or file': place ?? sender,
    result: toWords(mail),
  };
}

/** The counts are those of the reading: an account may have claimed the domain since. */
const OUTCOME_WORDS: Readonly<Record<string, string>> = { unclaimed: 'unclaimed when read' };

/** What became of a mail, in a few words. */
export function toWords(
  mail: Pick<ListedMail, 'state' | 'result' | 'counts' | 'reason' | 'last_error'>,
): string {
  const { state, result, counts, reason, last_error } = mail;
  if (state === 'claimed') return 'is being read';
  if (state !== 'done') return last_error === null ? state : `${state}: ${last_error}`;
  if (result === 'ignored' || result === 'dropped')
    return reason === null ? result : `${result}: ${reason}`;
  return toCountWords(counts ?? {}).join(', ');
}

export function toCountWords(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).map(
    ([outcome, count]) => `${count} ${OUTCOME_WORDS[outcome] ?? outcome}`,
  );
}
