import { domainToASCII } from 'node:url';
import { isMailToken } from '../../../domain/access/mail-token.ts';
import { Reply } from './reply.ts';

/**
 * Accepts the configured addresses, the postmaster's (RFC 5321, 4.5.1), and accounts' own, `<token>@<name>`, also with a tag
 * (`<token>+dmarc@<name>`), for which it returns the account's id. Throws a Reply, 550, for every other.
 */
export function createRecipients(
  { name, recipients }: { readonly name: string; readonly recipients: readonly string[] },
  findAccountByToken: (token: string) => Promise<string | undefined>,
) {
  const ourHost = toCanonicalHost(name);
  const known = new Set([...recipients.map(toCanonical), `postmaster@${ourHost}`]);
  return async (address: string): Promise<string | undefined> => {
    const isBare = address.toLowerCase() === 'postmaster';
    const canonical = toCanonical(isBare ? `${address}@${name}` : address);
    if (known.has(canonical)) return undefined;
    const at = canonical.lastIndexOf('@');
    const [token = ''] = canonical.slice(0, at).split('+', 1);
    const isCandidate = canonical.slice(at + 1) === ourHost && isMailToken(token);
    const accountId = isCandidate ? await findAccountByToken(token) : undefined;
    if (accountId === undefined) throw new Reply(550, 'No such address here');
    return accountId;
  };
}

const QUOTED = /^"(.*)"$/s;

/**
 * smtp-server gives domains in Unicode. Local parts are compared in lower case, which reporters expect, and without the quotes that
 * anybody may write (RFC 5321, 4.1.2).
 */
function toCanonical(address: string): string {
  const at = address.lastIndexOf('@');
  const [, quoted] = QUOTED.exec(address.slice(0, at)) ?? [];
  const local = quoted?.replaceAll(/\\(.)/gs, '$1') ?? address.slice(0, at);
  return `${local.toLowerCase()}@${toCanonicalHost(address.slice(at + 1))}`;
}

function toCanonicalHost(host: string): string {
  return domainToASCII(host.replace(/\.$/, '')) || host.toLowerCase();
}
