import { domainToASCII } from 'node:url';
import { isMailToken } from '../../../domain/access/mail-token.ts';
import { Reply } from './reply.ts';

/**
 * Accepts the configured addresses, and accounts' own, `<token>@<name>`, for which it returns the account's id. Throws a
 * Reply, 550, for every other.
 */
export function createRecipients(
  { name, recipients }: { readonly name: string; readonly recipients: readonly string[] },
  findAccountByToken: (token: string) => Promise<string | undefined>,
) {
  const known = new Set(recipients.map(toCanonical));
  const ourHost = toCanonicalHost(name);
  return async (address: string): Promise<string | undefined> => {
    const canonical = toCanonical(address);
    if (known.has(canonical)) return undefined;
    const at = canonical.lastIndexOf('@');
    const token = canonical.slice(0, at);
    const isCandidate = canonical.slice(at + 1) === ourHost && isMailToken(token);
    const accountId = isCandidate ? await findAccountByToken(token) : undefined;
    if (accountId === undefined) throw new Reply(550, 'No such address here');
    return accountId;
  };
}

/** smtp-server gives domains in Unicode. Local parts are compared in lower case, which reporters expect. */
function toCanonical(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at).toLowerCase()}@${toCanonicalHost(address.slice(at + 1))}`;
}

function toCanonicalHost(host: string): string {
  return domainToASCII(host.replace(/\.$/, '')) || host.toLowerCase();
}
