import type { Transporter } from 'nodemailer';
import { isEmail } from '../../domain/access/person.ts';

/** The operator's server, which takes all mail. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls' | 'none';
  readonly user: string | undefined;
  /** Asked for at each new connection. */
  readonly password: (() => string) | undefined;
  readonly from: { readonly name: string; readonly address: string };
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The message id without the host, the same in each try: a person's mailbox can recognise a mail that comes twice. */
  readonly id: string;
  /** The id of the mail that this one continues. */
  readonly inReplyTo?: string | undefined;
  /** Where one POST ends the subscription (RFC 8058). */
  readonly unsubscribe?: string | undefined;
}

export type Mailer = ReturnType<typeof createMailer>;

/** A server that stalls keeps one of the connections so long. Less than half of a claim (store/notify/claims.ts). */
const MAX_MS = 25_000;
const MAX_CONNECTIONS = 8;

/** Connects when there is something to send. nodemailer is loaded then, so nothing is without mail. */
export function createMailer(
  server: MailServer,
  { maxMs = MAX_MS }: { readonly maxMs?: number | undefined } = {},
) {
  let transport: Promise<Transporter> | undefined;
  const close = () => {
    transport?.then((opened) => opened.close()).catch(() => {});
    transport = undefined;
  };
  /** Resolves with the server's answer when it has taken the mail, and throws otherwise. */
  const send = async (mail: Mail) => {
    // nodemailer reads an address as a list of them.
    if (!isEmail(mail.to)) throw new Error('This is not one e-mail address.');
    try {
      transport ??= openTransport(server);
      const message = { ...toMessage(server.from, mail), signal: AbortSignal.timeout(maxMs) };
      const { response } = await (await transport).sendMail(message);
      return String(response);
    } catch (error) {
      const { code = '' } = error as MailError;
      // The next try reads the password again, which was wrong or could not be read.
      if (code === 'EAUTH' || code === '') close();
      throw error;
    }
  };
  /** Signs in without sending a mail. Throws what keeps it from doing so. */
  const check = async () => {
    transport ??= openTransport(server);
    await (await transport).verify();
  };
  return { send, check, close };
}

async function openTransport(server: MailServer): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  const { host, port, security, user, password } = server;
  return createTransport({
    pool: true,
    host,
    port,
    maxConnections: MAX_CONNECTIONS,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    // A server on this machine often has a certificate that nobody signed.
    ignoreTLS: security === 'none',
    ...(user !== undefined && { auth: { user, pass: password?.() ?? '' } }),
    // What is tried again is the caller's to say: a second try here could be a second mail.
    maxRequeues: 0,
    connectionTimeout: 15_000,
    greetingTimeout: 15_000,
    socketTimeout: MAX_MS,
    // Before the server does so, as that would fail the next mail.
    idleTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function toMessage(from: MailServer['from'], mail: Mail) {
  const { to, subject, text, html, id, inReplyTo, unsubscribe } = mail;
  const host = from.address.slice(from.address.lastIndexOf('@') + 1);
  const toMessageId = (of: string) => `<${of}@${host}>`;
  return {
    from,
    to: { name: '', address: to },
    subject,
    text,
    html,
    envelope: { from: from.address, to: [to] },
    messageId: toMessageId(id),
    ...(inReplyTo && { inReplyTo: toMessageId(inReplyTo), references: toMessageId(inReplyTo) }),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(unsubscribe && { 'List-Unsubscribe': { prepared: true, value: `<${unsubscribe}>` } }),
      // One click needs HTTPS (RFC 8058, 3.1).
      ...(unsubscribe?.startsWith('https:') && {
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
  };
}

/** Why the server takes no mail for this person, not now and not later; undefined for any other failure. */
export function findRefusal(error: unknown): string | undefined {
  const { responseCode = 0, command, response, message } = error as MailError;
  const isAboutMail = command === 'RCPT TO' || command === 'DATA';
  return responseCode >= 500 && isAboutMail ? (response ?? message) : undefined;
}

interface MailError extends Error {
  readonly code?: string;
  readonly responseCode?: number;
  readonly command?: string;
  readonly response?: string;
}
