import { basename } from 'node:path';
import { toSafeText } from '../../frame/words.ts';

/** The name of the source of a mail of the inbox: intake/inbox/mail-reading.ts. */
const FROM_INBOX = /^mail-\d+ (smtp|imap|folder)(?: (.*))?$/s;
const MAX_NAME = 160;

/**
 * How a report came in, in words, from the name of its source. Folders of the operator's machine are not named: the
 * reader may be a customer.
 */
export function toArrivalWords(source: string): string {
  const [, door, known = ''] = FROM_INBOX.exec(source) ?? [];
  if (door === 'smtp') return joinWords('A mail by SMTP', known);
  if (door === 'imap') return joinWords('A mail of a mailbox', known);
  if (door === 'folder') return joinWords('A file of a watched folder', basename(known));
  return joinWords('A file', basename(source));
}

function joinWords(kind: string, known: string): string {
  const text = toSafeText(known, MAX_NAME);
  if (text === '') return kind;
  return text.startsWith('from ') ? `${kind}, ${text}` : `${kind}: ${text}`;
}
