import { isAbsolute } from 'node:path';
import { parseDomainName } from '../domain/domain-name.ts';
import type { DoorName } from '../domain/incoming.ts';
import type { Environment, ValuesOf } from './environment.ts';
import { parseMailUrl } from './mail-url.ts';
import { anyText, choice, file, list, networks, parsed, whole } from './variable.ts';

const ADDRESS = /^[^\s@,]{1,64}@[^\s@,]{1,253}$/;

const VARIABLES = {
  /** The domain of the accounts' own addresses: the name of our mail server. */
  mailHost: parsed(
    'PLUMBLINE_SMTP_NAME',
    parseDomainName,
    'must be the name of this mail server, like dmarc.example.com',
  ),
  /** The address for the reports of all domains, when there is one. */
  reportAddress: parsed(
    'PLUMBLINE_REPORT_ADDRESS',
    (address) => (ADDRESS.test(address) ? address : undefined),
    'must be an e-mail address',
  ),
  /** Further addresses that the SMTP door accepts. */
  smtpRecipients: list(
    'PLUMBLINE_SMTP_RECIPIENTS',
    (item) => ADDRESS.test(item),
    'e-mail addresses',
  ),
  /** Servers whose findings about a mail are believed: names in Authentication-Results, and domains of ARC seals. */
  trustedServers: list(
    'PLUMBLINE_MAIL_TRUSTED_SERVERS',
    (item) => parseDomainName(item) === item,
    'names like mx.example.com, in lower case',
  ),
  /** Whether DNS is asked who sent a mail. */
  mailVerification: choice('PLUMBLINE_MAIL_VERIFICATION', ['on', 'off'], 'on'),
  /** Whether people upload reports on the account's page, and whether these are believed as files are. */
  uploads: choice('PLUMBLINE_UPLOADS', ['on', 'trusted', 'off'], 'on'),
  watched: list('PLUMBLINE_WATCH', isAbsolute, 'absolute paths of folders'),
  watchDone: choice('PLUMBLINE_WATCH_DONE', ['move', 'leave'], 'move'),
};

const SMTP_VARIABLES = {
  port: whole('PLUMBLINE_SMTP_PORT', undefined, { min: 0, max: 65_535 }),
  /** All addresses of the machine when it is undefined. */
  host: anyText('PLUMBLINE_SMTP_HOST', undefined),
  /** Addresses and networks of relays of the operator's own. */
  trusted: networks('PLUMBLINE_SMTP_TRUSTED'),
  certFile: file('PLUMBLINE_SMTP_TLS_CERT'),
  keyFile: file('PLUMBLINE_SMTP_TLS_KEY'),
};

/** The variables of a mailbox; those of the second and further ones end with its number. */
const toImapVariables = (end: string) => ({
  mailbox: parsed(
    `PLUMBLINE_IMAP_URL${end}`,
    parseImapUrl,
    'must be like imaps://user@mail.example.com/INBOX, without a password',
  ),
  password: anyText(`PLUMBLINE_IMAP_PASSWORD${end}`, undefined),
  passwordFile: file(`PLUMBLINE_IMAP_PASSWORD_FILE${end}`),
  tokenCommand: anyText(`PLUMBLINE_IMAP_TOKEN_COMMAND${end}`, undefined),
  caFile: file(`PLUMBLINE_IMAP_CA${end}`),
  done: choice(`PLUMBLINE_IMAP_DONE${end}`, ['move', 'flag', 'leave'], 'move'),
});

/** Each has a process of its own. */
const MAX_MAILBOXES = 20;

export type SmtpConfig = NonNullable<ReturnType<typeof readSmtp>>;
export type ImapConfig = NonNullable<ReturnType<typeof readImap>>;

export function readMailSettings(environment: Environment) {
  const values = environment.read(VARIABLES);
  const mailboxes = Array.from({ length: MAX_MAILBOXES }, (_, i) => readImap(environment, i + 1));
  const smtp = readSmtp(environment, values);
  return { ...values, smtp, mailboxes: mailboxes.filter((mailbox) => mailbox !== undefined) };
}

function readSmtp(
  environment: Environment,
  { mailHost: name, reportAddress, smtpRecipients }: ValuesOf<typeof VARIABLES>,
) {
  const { port, host, trusted, certFile, keyFile } = environment.read(SMTP_VARIABLES);
  if (port !== undefined) environment.require({ PLUMBLINE_SMTP_NAME: name }, 'PLUMBLINE_SMTP_PORT');
  if (certFile) environment.require({ PLUMBLINE_SMTP_TLS_KEY: keyFile }, 'PLUMBLINE_SMTP_TLS_CERT');
  if (keyFile) environment.require({ PLUMBLINE_SMTP_TLS_CERT: certFile }, 'PLUMBLINE_SMTP_TLS_KEY');
  if (port === undefined || name === undefined) return undefined;
  return {
    port,
    host,
    name,
    trusted,
    recipients: reportAddress === undefined ? smtpRecipients : [reportAddress, ...smtpRecipients],
    certificate: certFile && keyFile ? { certFile, keyFile } : undefined,
  };
}

function readImap(environment: Environment, number: number) {
  const end = number === 1 ? '' : `_${number}`;
  const { mailbox, done, caFile, ...credentials } = environment.read(toImapVariables(end));
  if (mailbox === undefined) return undefined;
  const door: DoorName = number === 1 ? 'imap' : `imap:${number}`;
  environment.refuse(
    Object.values(credentials).filter((value) => value !== undefined).length !== 1,
    `PLUMBLINE_IMAP_URL${end}: needs one of PLUMBLINE_IMAP_PASSWORD${end}, PLUMBLINE_IMAP_PASSWORD_FILE${end}, PLUMBLINE_IMAP_TOKEN_COMMAND${end}`,
  );
  // A mail that is moved to its own mailbox is a new one there.
  environment.refuse(
    done === 'move' && /^(processed|rejected)$/i.test(mailbox.mailbox),
    `PLUMBLINE_IMAP_URL${end}: must not be a mailbox that mails are moved to`,
  );
  environment.refuse(
    caFile !== undefined && mailbox.security === 'none',
    `PLUMBLINE_IMAP_CA${end}: imap:// to this machine has no TLS`,
  );
  return { ...mailbox, door, credentials, caFile, done };
}

/** `imaps://user@host/INBOX`; without a mailbox it is INBOX. */
function parseImapUrl(value: string) {
  const url = parseMailUrl(value, { tls: ['imaps:', 993], starttls: ['imap:', 143] });
  if (url?.user === undefined) return undefined;
  const { path, user, ...server } = url;
  return { ...server, user, mailbox: path === '' ? 'INBOX' : path };
}
