import { ImapFlow } from 'imapflow';
import { readCredentials } from './credentials.ts';
import type { Fetches } from './fetches.ts';
import { prepareFiling } from './filing.ts';
import { IMAP_DOOR, type ImapGiven } from './imap-door.ts';
import type { ImapLimits } from './limits.ts';
import { MailboxReader } from './mailbox-reader.ts';
import type { ImapOptions } from './options.ts';
import { waitForNews } from './waiting.ts';

export interface SessionGiven extends ImapGiven {
  readonly limits: ImapLimits;
  readonly fetches: Fetches;
  readonly signal: AbortSignal;
  /** Called when a mail was read or filed. */
  readonly onProgress: () => void;
  /** Called when the mailbox was read to its end. */
  readonly onWorking: () => Promise<void>;
}

/** One connection: reads what is there, files what is done, and waits for more. Throws when the connection ends. */
export async function runSession(options: ImapOptions, given: SessionGiven): Promise<void> {
  const { signal } = given;
  const client = await createClient(options, given);
  // A command in progress ends first: a MOVE that is cut off may leave a mail in both folders.
  const closeSoon = () => void setTimeout(() => client.close(), given.limits.stopMs).unref();
  signal.addEventListener('abort', closeSoon);
  try {
    if (signal.aborted) return;
    await client.connect();
    await work(client, options, given);
  } finally {
    signal.removeEventListener('abort', closeSoon);
    client.close();
  }
}

async function work(client: ImapFlow, options: ImapOptions, given: SessionGiven): Promise<void> {
  const { limits, signal, onWorking } = given;
  const reader = await openReader(client, options, given);
  let isNews = false;
  client.on('exists', () => {
    isNews = true;
  });
  while (!signal.aborted) {
    isNews = false;
    await reader.readNew();
    await onWorking();
    await waitForNews(client, {
      limits,
      signal,
      isNews: () => isNews && !reader.isFull,
      hasResults: () => reader.hasResults(),
    });
    await reader.fileDone();
  }
}

/** With nothing to change it is EXAMINE: the server itself then keeps the mails as they are. */
async function openReader(client: ImapFlow, options: ImapOptions, given: SessionGiven) {
  const { mailbox, done } = options;
  const opened = await client.mailboxOpen(mailbox, { readOnly: done === 'leave' });
  if (opened.readOnly && done !== 'leave')
    given.log.warn(
      { door: IMAP_DOOR },
      `imap: ${mailbox} is read-only, so its mails are left alone`,
    );
  const file = await prepareFiling(client, opened.readOnly ? 'leave' : done);
  return await MailboxReader.open(client, options, { ...given, file });
}

async function createClient(
  options: ImapOptions,
  { limits, signal }: Pick<SessionGiven, 'limits' | 'signal'>,
): Promise<ImapFlow> {
  const { host, port, user, security, ca } = options;
  const client = new ImapFlow({
    host,
    port,
    secure: security === 'tls',
    ...(security === 'tls' ? {} : { doSTARTTLS: security === 'starttls' }),
    auth: { user, ...(await readCredentials(options.credentials, signal)) },
    tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
    clientInfo: { name: 'Plumbline' },
    logger: false,
    disableAutoIdle: true,
    maxIdleTime: limits.idleMs,
    socketTimeout: limits.socketMs,
    maxLiteralSize: limits.maxMailBytes + MARGIN_BYTES,
    maxResponseSize: limits.maxMailBytes + 2 * MARGIN_BYTES,
    maxLineLength: MARGIN_BYTES,
  });
  // The same error ends the command in progress. Without a listener it would end the process.
  client.on('error', () => {});
  return client;
}

/** For what the server says around a mail. */
const MARGIN_BYTES = 1024 * 1024;
