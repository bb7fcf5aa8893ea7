import { parseAddress, toSiteNetwork } from './network-address.ts';

/** The bytes of a mail that are read: servers add their own fields at the top. */
const MAX_HEAD_BYTES = 16 * 1024;
const RECEIVED = /^Received:[^\n]*(?:\n[ \t][^\n]*)*/gim;
/** A server's name for itself follows: what the client was is before. */
const BY = /\sby\s/i;
const ADDRESS = /[[(](?:IPv6:)?([0-9a-f.:]{3,45})[\])]/gi;
/** Within a provider's own network, and of no use to tell senders apart. */
const PRIVATE =
  /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.|^(?:::1?$|f[cde])/i;

/**
 * The network that a mail came from: the one of the client that brought it, or, for a mail that others received, the
 * first public address in its `Received` fields (RFC 5321, 4.4). The topmost are those of the mailbox's own servers,
 * which a sender cannot write. Before the server's name, the last address is the client's: the others are its claims.
 * An empty text when it is not known.
 */
export function toMailNetwork(peer: string | undefined, bytes: Uint8Array): string {
  const address = parseAddress(peer ?? '') ?? findReceivedFrom(bytes);
  return address === undefined ? '' : toSiteNetwork(address);
}

function findReceivedFrom(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_HEAD_BYTES));
  const [head = ''] = text.toString('latin1').split(/\r?\n\r?\n/, 1);
  for (const [field] of head.matchAll(RECEIVED)) {
    const [client = ''] = field.split(BY, 1);
    const addresses = [...client.matchAll(ADDRESS)].map(([, address]) =>
      parseAddress(address ?? ''),
    );
    const last = addresses.findLast((address) => address !== undefined);
    if (last !== undefined && !PRIVATE.test(last)) return last;
  }
  return undefined;
}
