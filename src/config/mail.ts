import { type ImapPlace, parseImapUrl } from './imap-url.ts';
import {
  choice,
  file,
  list,
  parsed,
  text,
  type ValuesOf,
  type Variable,
  whole,
} from './variable.ts';

/* The settings of the mail doors, SMTP and IMAP. */

const ADDRESS = /^[^\s@,]{1,64}@[^\s@,]{1,253}$/;

const port: Variable<number | undefined> = {
  ...whole(25, { min: 0, max: 65_535 }),
  fallback: undefined,
};

export const MAIL_VARIABLES = {
  PLUMBLINE_SMTP_PORT: port,
  PLUMBLINE_SMTP_HOST: text(undefined),
  PLUMBLINE_SMTP_TLS_CERT: file,
  PLUMBLINE_SMTP_TLS_KEY: file,
  PLUMBLINE_SMTP_RECIPIENTS: list((item) => ADDRESS.test(item), 'e-mail addresses'),
  PLUMBLINE_IMAP_URL: parsed(
    (url) => (parseImapUrl(url) === undefined ? undefined : url),
    'must be like imaps://user@mail.example.com/INBOX, without a password',
  ),
  PLUMBLINE_IMAP_PASSWORD: text(undefined),
  PLUMBLINE_IMAP_PASSWORD_FILE: file,
  PLUMBLINE_IMAP_TOKEN_COMMAND: text(undefined),
  PLUMBLINE_IMAP_DONE: choice(['move', 'flag', 'leave'], 'move'),
};

type Values = ValuesOf<typeof MAIL_VARIABLES>;
/** Those of config-inbox.ts that the SMTP door needs as well. */
interface Others {
  readonly PLUMBLINE_SMTP_NAME?: string | undefined;
  readonly PLUMBLINE_REPORT_ADDRESS?: string | undefined;
}

export interface SmtpConfig {
  readonly port: number;
  /** All addresses of the machine when it is undefined. */
  readonly host: string | undefined;
  readonly name: string;
  readonly recipients: readonly string[];
  readonly certificate?: { readonly certFile: string; readonly keyFile: string } | undefined;
}

export interface ImapConfig extends ImapPlace {
  readonly credentials: {
    readonly password?: string | undefined;
    readonly passwordFile?: string | undefined;
    readonly tokenCommand?: string | undefined;
  };
  readonly done: 'move' | 'flag' | 'leave';
}

/** The mail server, when there is a port for it. */
export function toSmtp(values: Values & Others): SmtpConfig | undefined {
  const { PLUMBLINE_SMTP_PORT: ownPort, PLUMBLINE_SMTP_NAME: name } = values;
  if (ownPort === undefined || name === undefined) return undefined;
  const { PLUMBLINE_SMTP_TLS_CERT: certFile, PLUMBLINE_SMTP_TLS_KEY: keyFile } = values;
  const { PLUMBLINE_REPORT_ADDRESS: reportAddress, PLUMBLINE_SMTP_RECIPIENTS: others } = values;
  return {
    port: ownPort,
    host: values.PLUMBLINE_SMTP_HOST,
    name,
    recipients: reportAddress === undefined ? others : [reportAddress, ...others],
    certificate: certFile && keyFile ? { certFile, keyFile } : undefined,
  };
}

/** The mailbox that is read, when there is one. */
export function toImap(values: Values): ImapConfig | undefined {
  const place = parseImapUrl(values.PLUMBLINE_IMAP_URL ?? '');
  if (place === undefined) return undefined;
  const credentials = {
    password: values.PLUMBLINE_IMAP_PASSWORD,
    passwordFile: values.PLUMBLINE_IMAP_PASSWORD_FILE,
    tokenCommand: values.PLUMBLINE_IMAP_TOKEN_COMMAND,
  };
  return { ...place, credentials, done: values.PLUMBLINE_IMAP_DONE };
}

const CREDENTIALS = [
  'PLUMBLINE_IMAP_PASSWORD',
  'PLUMBLINE_IMAP_PASSWORD_FILE',
  'PLUMBLINE_IMAP_TOKEN_COMMAND',
] as const;

/** A line for each setting that another one contradicts, or that is missing. */
export function listMailProblems(values: Values & Others): string[] {
  const { PLUMBLINE_SMTP_TLS_CERT: cert, PLUMBLINE_SMTP_TLS_KEY: key } = values;
  const problems: string[] = [];
  if (values.PLUMBLINE_SMTP_PORT !== undefined && values.PLUMBLINE_SMTP_NAME === undefined)
    problems.push('PLUMBLINE_SMTP_NAME: is required with PLUMBLINE_SMTP_PORT');
  if (cert !== undefined && key === undefined)
    problems.push('PLUMBLINE_SMTP_TLS_KEY: is required with PLUMBLINE_SMTP_TLS_CERT');
  if (cert === undefined && key !== undefined)
    problems.push('PLUMBLINE_SMTP_TLS_CERT: is required with PLUMBLINE_SMTP_TLS_KEY');
  return [...problems, ...listImapProblems(values)];
}

function listImapProblems(values: Values): string[] {
  const imap = toImap(values);
  if (imap === undefined) return [];
  const problems: string[] = [];
  if (CREDENTIALS.filter((name) => values[name] !== undefined).length !== 1)
    problems.push(`PLUMBLINE_IMAP_URL: needs one of ${CREDENTIALS.join(', ')}`);
  // A mail that is moved to its own mailbox is a new one there.
  if (imap.done === 'move' && /^(processed|rejected)$/i.test(imap.mailbox))
    problems.push('PLUMBLINE_IMAP_URL: must not be a mailbox that mails are moved to');
  return problems;
}
