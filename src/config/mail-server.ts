import { parseEmail } from '../domain/access/person.ts';
import type { Environment } from './environment.ts';
import { parseMailUrl } from './mail-url.ts';
import { createPasswordReader } from './secret-file.ts';
import { anyText, file, parsed } from './variable.ts';

/* The server that Plumbline sends mail with. What it receives is in mail.ts. */

const VARIABLES = {
  server: parsed(
    'PLUMBLINE_MAIL_SERVER',
    parseServer,
    'must be like smtps://user@mail.example.com, without a password',
  ),
  password: anyText('PLUMBLINE_MAIL_PASSWORD', undefined),
  passwordFile: file('PLUMBLINE_MAIL_PASSWORD_FILE'),
  from: parsed(
    'PLUMBLINE_MAIL_FROM',
    parseSender,
    'must be an e-mail address, or a name and an address like Plumbline <dmarc@example.com>',
  ),
};

/** undefined when there is none: then no mail is sent. */
export function readMailServer(environment: Environment, baseUrl: string | undefined) {
  const { server, password, passwordFile, from } = environment.read(VARIABLES);
  if (server === undefined) return undefined;
  // A link to whatever host a request names could bring somebody's link to a stranger.
  const needed = { PLUMBLINE_MAIL_FROM: from, PLUMBLINE_BASE_URL: baseUrl };
  environment.require(needed, 'PLUMBLINE_MAIL_SERVER');
  const secrets = [password, passwordFile].filter((secret) => secret !== undefined);
  environment.refuse(
    secrets.length !== (server.user === undefined ? 0 : 1),
    'PLUMBLINE_MAIL_SERVER: with a user it needs one of PLUMBLINE_MAIL_PASSWORD, PLUMBLINE_MAIL_PASSWORD_FILE, and without one none',
  );
  return {
    ...server,
    password: createPasswordReader('PLUMBLINE_MAIL_PASSWORD_FILE', password, passwordFile),
    from: from ?? { name: '', address: '' },
  };
}

function parseServer(value: string) {
  const url = parseMailUrl(value, { tls: ['smtps:', 465], starttls: ['smtp:', 587] });
  if (url === undefined || url.path !== '') return undefined;
  const { path, ...server } = url;
  return server;
}

/** A name without what has a meaning in a header (RFC 5322, 3.2.3) or could show another address. */
const SENDER = /^(?:([^\p{C}<>"@\\]{1,100}?) *<([^<>]+)>|([^<>\s]+))$/u;

function parseSender(value: string) {
  const [, name = '', inBrackets, alone] = SENDER.exec(value.trim()) ?? [];
  const address = inBrackets ?? alone;
  try {
    return address === undefined ? undefined : { name, address: parseEmail(address) };
  } catch {
    return undefined;
  }
}
