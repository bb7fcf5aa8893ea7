import { Failure } from '../../domain/failure.ts';
import type { Store } from '../../store/engine/open.ts';
import { findMail, type ListedMail } from '../../store/inbox/list.ts';
import { findContent } from '../../store/inbox/parts.ts';
import { writeBytes } from '../document/document-show.ts';
import { type OutputOptions, printOne } from '../output/output.ts';
import { withStore } from '../with-store.ts';
import { toCountWords, toOutput } from './inbox-list.ts';

export async function showMail(seq: number, options: OutputOptions): Promise<void> {
  const mail = toOutput(await withStore(({ db }) => findMail(db, seq)));
  const { counts, recipients } = mail;
  const shown = {
    ...mail,
    counts: counts && toCountWords(counts),
    recipients: recipients.join(', '),
  };
  printOne(options.json ? mail : shown, options);
}

/** Writes the bytes of a mail, as they came in, to standard output. */
export async function writeMail(seq: number): Promise<void> {
  await writeBytes(() => withStore((store) => findBytes(store, seq)));
}

async function findBytes({ db }: Store, seq: number): Promise<Uint8Array> {
  const mail = await findMail(db, seq);
  const bytes = await findContent(db, { ...mail, byteCount: mail.byte_count });
  if (bytes === undefined) throw toGone(mail);
  return bytes;
}

/** Of some mails nothing has to be kept. */
export function toGone({ seq, reason, result }: ListedMail): Failure {
  const why = reason ?? result ?? 'it is not complete';
  return new Failure('not_found', `The bytes of mail-${seq} were not kept (${why}).`);
}
