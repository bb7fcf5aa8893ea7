import { describeSystemError } from '../../../domain/system-error.ts';
import { toLogText } from '../log-text.ts';

/** A fault that an operator has to correct; the message says what it is. */
export class DoorFault extends Error {
  /** The server refused the credentials, or they could not be read. */
  readonly isRefused: boolean;

  constructor(message: string, { isRefused = false } = {}) {
    super(message);
    this.name = 'DoorFault';
    this.isRefused = isRefused;
  }
}

/** The server lists a mail but does not give its text. */
export class MailFault extends DoorFault {}

/** A mail could not be stored: no fault of the mail, nor of the server. */
export class StoreFault extends DoorFault {
  constructor(cause: unknown) {
    super('A mail could not be stored; it stays in the mailbox, and is read again.');
    this.cause = cause;
  }
}

/** What imapflow adds to errors. */
interface ImapError extends Error {
  readonly code?: string;
  readonly authenticationFailed?: boolean;
  readonly tlsFailed?: boolean;
  readonly response?: unknown;
  readonly responseText?: string;
  readonly responseStatus?: string;
}

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_UNTRUSTED/;

export function toDoorFault(error: unknown, host: string): DoorFault {
  if (error instanceof DoorFault) return error;
  const { authenticationFailed, tlsFailed, code = '', response, message } = error as ImapError;
  if (authenticationFailed) {
    const said = typeof response === 'string' ? `: ${toSaid(response)}` : '';
    return new DoorFault(`The server refuses the user or the credentials${said}.`, {
      isRefused: true,
    });
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return new DoorFault(`The server's certificate is not for ${host}.`);
  if (UNTRUSTED.test(code))
    return new DoorFault(`The server's certificate is not trusted (${code}).`);
  if (code === 'CERT_HAS_EXPIRED') return new DoorFault("The server's certificate has expired.");
  if (tlsFailed) return new DoorFault(`No TLS with the server: ${toLogText(message)}.`);
  return new DoorFault(`The mailbox cannot be read: ${toLogText(describe(error as ImapError))}.`);
}

/** What a server says, without the tag of the command. */
function toSaid(response: string): string {
  return toLogText(response.replace(/^\S+ (?=(?:NO|BAD) )/, '').replace(/\.$/, ''));
}

function describe(error: ImapError): string {
  const { responseText, message } = error;
  return responseText ?? (message === '' ? describeSystemError(error) : message);
}

/** Whether the server answered, so that the connection itself is not the fault. */
export function isAnswered(error: unknown): boolean {
  return error instanceof MailFault || (error as ImapError).responseStatus !== undefined;
}
