/** A mailbox, as a URL names it. */
export interface ImapPlace {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly mailbox: string;
  readonly security: 'tls' | 'starttls' | 'none';
}

/**
 * `imaps://user@host/INBOX`; without a mailbox it is INBOX. `imap` is upgraded by STARTTLS, and stays in plain text on
 * this machine only. undefined for any other text, and for a URL with a password, which would show up in messages.
 */
export function parseImapUrl(text: string): ImapPlace | undefined {
  if (!/^imaps?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  const host = hostname.replace(/^\[(.+)\]$/, '$1').toLowerCase();
  const [user, mailbox] = [decode(username), decode(pathname.slice(1))];
  if (host === '' || !user || mailbox === undefined) return undefined;
  if (`${password}${search}${hash}` !== '') return undefined;
  const isTls = protocol === 'imaps:';
  return {
    host,
    port: port === '' ? (isTls ? 993 : 143) : Number(port),
    user,
    mailbox: mailbox === '' ? 'INBOX' : mailbox,
    security: isTls ? 'tls' : isLoopback(host) ? 'none' : 'starttls',
  };
}

/** undefined for text with control characters, which no name has, and for a broken encoding. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return /\p{Cc}/u.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
