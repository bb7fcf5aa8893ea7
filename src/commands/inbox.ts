import { Argument, type Command } from 'commander';
import { dropMail, listStuck, retryMail } from '../store/inbox/operator.ts';
import { addInboxDoors } from './inbox/inbox-doors.ts';
import { addInboxList } from './inbox/inbox-list.ts';
import { showMail, writeMail } from './inbox/inbox-show.ts';
import { collectMails, parseMail, toMailId } from './inbox/mail-id.ts';
import { rereadMails } from './inbox/reread-mails.ts';
import { hint, type OutputOptions, printList, printText } from './output/output.ts';
import { UsageError } from './output/usage-error.ts';
import { withStore } from './with-store.ts';

const RETRY_HELP = `
A mail is stuck when a fault of this installation (no space, no memory, a database that does not respond) has kept
it from being read ten times. It is read by plumbline serve or plumbline work, with ten tries again.`;

const DROP_HELP = `
The mail is not read, and its bytes are deleted. Only a mail that waits or is stuck can be dropped.`;

const REREAD_HELP = `
For mails that are done, with the parser of this version. A report that is stored stays as it is; one that could
not be read becomes a report if it can be read now. Of a mail without any report, the bytes are kept for ninety
days, unless it was a TLS report or a failure report.`;

export function addInboxCommands(inbox: Command): void {
  addInboxList(inbox);
  addInboxDoors(inbox);

  inbox
    .command('show')
    .addArgument(new Argument('<mail>', 'as listed').argParser(parseMail))
    .description('Show a mail: how it came in, and what became of it.')
    .option('--original', 'write the original bytes to standard output')
    .action(async (seq: number, options: { original?: boolean } & OutputOptions) => {
      if (options.original) await writeMail(seq);
      else await showMail(seq, options);
    });

  inbox
    .command('retry')
    .addArgument(new Argument('[mail...]', 'as listed').argParser(collectMails))
    .description('Read mails that are stuck, or that wait for their next try, as soon as possible.')
    .option('--all', 'all that are stuck')
    .addHelpText('after', RETRY_HELP)
    .action(retry);

  inbox
    .command('drop')
    .addArgument(new Argument('<mail...>', 'as listed').argParser(collectMails))
    .description('Give up mails that wait or are stuck.')
    .addHelpText('after', DROP_HELP)
    .action(async (seqs: readonly number[], options: OutputOptions) => {
      await withStore(async ({ db }) => {
        for (const seq of seqs) await dropMail(db, seq);
      });
      printChanged(seqs, 'Dropped', options);
    });

  inbox
    .command('reread')
    .addArgument(new Argument('<mail...>', 'as listed').argParser(collectMails))
    .description('Read mails again.')
    .addHelpText('after', REREAD_HELP)
    .action(rereadMails);
}

interface RetryOptions extends OutputOptions {
  readonly all?: boolean;
}

async function retry(given: readonly number[], options: RetryOptions): Promise<void> {
  if (given.length > 0 === (options.all === true)) throw new UsageError('Give mails, or --all.');
  const seqs = await withStore(async ({ db }) => {
    const seqs = options.all ? await listStuck(db) : given;
    for (const seq of seqs) await retryMail(db, seq);
    return seqs;
  });
  printChanged(seqs, 'To be read again', options);
  if (seqs.length > 0) hint('They are read by plumbline serve, or plumbline work.', options);
}

function printChanged(seqs: readonly number[], verb: string, options: OutputOptions): void {
  const ids = seqs.map(toMailId);
  if (options.json)
    printList(
      ids.map((id) => ({ id })),
      { none: '' },
      options,
    );
  else printText([ids.length === 0 ? 'No mail is stuck.' : `${verb}: ${ids.join(', ')}`]);
}
