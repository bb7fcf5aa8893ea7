import { domainToASCII } from 'node:url';
import { isMailToken } from '../../../domain/access/mail-token.ts';
import { Reply } from './reply.ts';

interface RecipientsOptions {
  readonly addresses: readonly string[];
  /** The host of the accounts' own addresses, `<token>@<host>`. */
  readonly host: string;
  readonly findAccountByToken: (token: string) => Promise<string | undefined>;
}

export interface Recipient {
  /** The account whose own address it is. */
  readonly accountId: string | undefined;
}

/** Accepts the configured addresses and those of accounts. Throws a Reply, 550, for every other. */
export function createRecipients({ addresses, host, findAccountByToken }: RecipientsOptions) {
  const known = new Set(addresses.map(toCanonical));
  const ourHost = toCanonicalHost(host);
  return async (address: string): Promise<Recipient> => {
    const canonical = toCanonical(address);
    if (known.has(canonical)) return { accountId: undefined };
    const at = canonical.lastIndexOf('@');
    const token = canonical.slice(0, at);
    const isCandidate = canonical.slice(at + 1) === ourHost && isMailToken(token);
    const accountId = isCandidate ? await findAccountByToken(token) : undefined;
    if (accountId === undefined) throw new Reply(550, 'No such address here');
    return { accountId };
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
