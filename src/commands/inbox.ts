import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { Failure } from '../domain/failure.ts';
import type { DoneResult, MailState } from '../domain/incoming.ts';
import type { Db } from '../store/engine/database.ts';
import { deleteDoor, findWriteFault, listDoors } from '../store/inbox/doors.ts';
import { findMail, type ListedMail, listMails, type MailFilter } from '../store/inbox/mails.ts';
import { dropMail, listStuck, retryMail } from '../store/inbox/operator.ts';
import { findMailContent } from '../store/inbox/parts.ts';
import { parseDay, parseEach, parseWhole } from './arguments.ts';
import { toColumns, toCountTexts, toMailId, toOutput } from './inbox/mail-output.ts';
import {
  type Flags,
  hint,
  type OutputOptions,
  printBytes,
  printList,
  printOne,
  printResult,
  toShortTime,
} from './output/output.ts';
import { UsageError } from './output/report-error.ts';
import { withStore } from './with-store.ts';

const DEFAULT_LIMIT = 100;
const STATES: readonly MailState[] = ['waiting', 'claimed', 'stuck', 'done'];
const RESULTS: readonly DoneResult[] = ['processed', 'rejected', 'ignored', 'dropped'];

const RETRY_HELP = `
A mail is stuck when a fault of this installation (no space, no memory, a database that does not respond) has kept
it from being read ten times. It is read by plumbline serve or plumbline work, with ten tries again. A mail without a
report is read again, with the parser of this version, as long as its bytes are kept: ninety days, unless it was a TLS
report or a failure report. What was rejected is read again by plumbline document reread.`;

const DOORS_HELP = `
Ends with status 1 when a door fails, or has said nothing for a quarter of an hour.`;

const DROP_HELP = `
The mail is not read, and its bytes are deleted. Only a mail that waits or is stuck can be dropped.`;

export function define(inbox: Command): void {
  inbox
    .command('list')
    .description('List the mails that came in by SMTP, by IMAP and through folders, newest first.')
    .addOption(new Option('--state <state>', 'only these').choices(STATES))
    .addOption(new Option('--result <result>', 'only mails with this result').choices(RESULTS))
    .option('--since <day>', 'received on this UTC day or later', parseDay)
    .option('--limit <mails>', 'how many mails', parseWhole(9_999), DEFAULT_LIMIT)
    .action(async (options: OutputOptions & MailFilter) => {
      const mails = await withStore(({ db }) => listMails(db, options));
      const none = 'No mail has come in, or none that matches.';
      printList(mails.map(toOutput), { none, toColumns }, options);
    });

  inbox
    .command('doors')
    .description('List the doors that mails come in by, and what keeps them from working.')
    .option('--forget <door>', 'of a door that is not configured any more, remember nothing')
    .addHelpText('after', DOORS_HELP)
    .action(listAllDoors);

  inbox
    .command('show')
    .addArgument(new Argument('<mail>', 'as listed').argParser(parseMail))
    .description('Show a mail: how it came in, and what became of it.')
    .option('--original', 'write the original bytes to standard output')
    .action(showMail);

  inbox
    .command('retry')
    .addArgument(new Argument('[mail...]', 'as listed').argParser(parseEach(parseMail)))
    .description(
      'Read mails as soon as possible that are stuck, wait for their next try or had no report.',
    )
    .option('--all', 'all that are stuck')
    .addHelpText('after', RETRY_HELP)
    .action(retry);

  inbox
    .command('drop')
    .addArgument(new Argument('<mail...>', 'as listed').argParser(parseEach(parseMail)))
    .description('Give up mails that wait or are stuck.')
    .addHelpText('after', DROP_HELP)
    .action(async (seqs: readonly number[], options: OutputOptions) => {
      await withStore(async ({ db }) => {
        for (const seq of seqs) await dropMail(db, seq);
      });
      printChanged(seqs, 'Dropped', options);
    });
}

function parseMail(text: string): number {
  const [, digits] = /^mail-([1-9]\d{0,14})$/.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('It is mail-<number>.');
  return Number(digits);
}

async function listAllDoors({
  forget,
  ...options
}: OutputOptions & { readonly forget?: string }): Promise<void> {
  const { doors, writeFault } = await withStore(async ({ db }) => {
    if (forget !== undefined) await deleteDoor(db, forget);
    return { writeFault: await findWriteFault(db), doors: await listDoors(db) };
  });
  const rows = doors.map((door) => ({ ...door, fault: door.fault ?? writeFault ?? null }));
  const toColumns = ({ door, worked_at, fault }: (typeof rows)[number]) => ({
    door,
    'worked (UTC)': toShortTime(worked_at) ?? '',
    state: fault ?? 'works',
  });
  printList(rows, { none: 'No door was ever open.', toColumns }, options);
  if (rows.some(({ fault }) => fault !== null)) process.exitCode = 1;
}

async function showMail(seq: number, options: Flags<'original'>): Promise<void> {
  if (options.original)
    return await printBytes(() =>
      withStore(async ({ db }) => findBytes(db, await findMail(db, seq))),
    );
  const mail = toOutput(await withStore(({ db }) => findMail(db, seq)));
  const { counts, recipients } = mail;
  const texts = { counts: counts && toCountTexts(counts), recipients: recipients.join(', ') };
  printOne(options.json ? mail : { ...mail, ...texts }, options);
}

async function retry(mails: readonly number[], options: Flags<'all'>): Promise<void> {
  if (mails.length > 0 === (options.all === true)) throw new UsageError('Give mails, or --all.');
  const seqs = await withStore(async ({ db }) => {
    const seqs = options.all ? await listStuck(db) : mails;
    for (const seq of seqs) {
      const mail = await findMail(db, seq);
      if (mail.state === 'done') await findBytes(db, mail);
      await retryMail(db, seq);
    }
    return seqs;
  });
  printChanged(seqs, 'To be read again', options);
  if (seqs.length > 0) hint('They are read by plumbline serve, or plumbline work.', options);
}

function printChanged(seqs: readonly number[], verb: string, options: OutputOptions): void {
  const mails = seqs.map((seq) => ({ id: toMailId(seq) }));
  const text = `${verb}: ${mails.map(({ id }) => id).join(', ')}`;
  printResult(mails, [mails.length === 0 ? 'No mail is stuck.' : text], options);
}

const HAS_PARTS =
  'Of a mail with a report, the part that has it is kept: plumbline document show and reread.';

/** Throws `not_found` when the bytes were not kept. */
async function findBytes(db: Db, mail: ListedMail): Promise<Uint8Array> {
  const bytes = await findMailContent(db, mail);
  if (bytes !== undefined) return bytes;
  const { seq, result } = mail;
  const why = mail.reason ?? result ?? 'it is not complete';
  const hint = result === 'processed' || result === 'rejected' ? ` ${HAS_PARTS}` : '';
  throw new Failure('not_found', `The bytes of mail-${seq} were not kept (${why}).${hint}`);
}
