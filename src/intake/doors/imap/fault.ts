import { describeSystemError } from '../../../domain/system-error.ts';
import { toLogText } from '../log-text.ts';
import type { ImapLimits } from './options.ts';

/** A fault that an operator has to correct; the message says what it is. */
export class DoorFault extends Error {
  /** Trying again soon does not help: wrong credentials, or a server that says too much. */
  readonly isLasting: boolean;

  constructor(message: string, { isLasting = false } = {}) {
    super(message);
    this.name = 'DoorFault';
    this.isLasting = isLasting;
  }
}

/** A fault for which trying again soon does not help. */
export const lastingFault = (message: string) => new DoorFault(message, { isLasting: true });

/** The server lists a mail but does not give its text. */
export class MailFault extends DoorFault {}

/** A mail could not be stored: no fault of the mail, nor of the server. */
export class StoreFault extends DoorFault {
  constructor(cause: unknown) {
    super('A mail could not be stored; it stays in the mailbox, and is read again.');
    this.cause = cause;
  }
}

/** The server asks for a pause before the next command: no fault of the mail that was asked for. */
export class ThrottleFault extends DoorFault {
  readonly pauseMs: number;

  constructor(pauseMs: number) {
    const pause = `for a pause of ${Math.ceil(pauseMs / 1000)} s`;
    super(`The server throttles: it asks ${pause}, which is waited for.`, { isLasting: true });
    this.pauseMs = pauseMs;
  }
}

/** The server refuses to move or flag mails. They can be read nevertheless. */
export class FilingFault extends DoorFault {}

/** What a server says with NO or BAD. */
export interface ServerRefusal {
  readonly responseText?: string;
  readonly serverResponseCode?: string;
}

/** What imapflow adds to errors. */
export interface ImapError extends Error, ServerRefusal {
  readonly code?: string;
  readonly authenticationFailed?: boolean;
  readonly tlsFailed?: boolean;
  readonly response?: unknown;
  readonly responseStatus?: string;
}

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_UNTRUSTED/;

export function toDoorFault(error: unknown, host: string): DoorFault {
  if (error instanceof DoorFault) return error;
  const { authenticationFailed, tlsFailed, code = '', response, message } = error as ImapError;
  if (authenticationFailed) {
    const said = typeof response === 'string' ? `: ${toSaid(response)}` : '';
    return lastingFault(`The server refuses the user or the credentials${said}.`);
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
export function toSaid(response: string): string {
  return toLogText(response.replace(/^\S+ (?=(?:NO|BAD) )/, '').replace(/\.$/, ''));
}

function describe(error: ImapError): string {
  const { responseText, message } = error;
  return responseText ?? (message === '' ? describeSystemError(error) : message);
}

/** Whether the server answered, so that the connection itself is not the fault. */
export function isServerAnswer(error: unknown): boolean {
  return error instanceof MailFault || (error as ImapError).responseStatus !== undefined;
}

/** The longest wait before the next try, after so many that failed one after the other. At least half of it is waited. */
export function toRetryMs(fault: DoorFault, failures: number, limits: ImapLimits): number {
  if (fault instanceof ThrottleFault) return Math.min(limits.maxPauseMs, 2 * fault.pauseMs);
  const firstMs = fault.isLasting ? limits.lastingRetryMs : limits.firstRetryMs;
  return Math.min(limits.maxRetryMs, firstMs * 2 ** Math.min(failures, 20));
}
