import ipaddr from 'ipaddr.js';
import { Failure } from '../failure.ts';
import { createNetworks } from '../network-address.ts';

/**
 * `allowed`: in a network that the operator allows. `public`: anybody may be called there. `port`: not on this port, which is
 * empty for that of the URL's scheme.
 */
export type JudgeAddress = (
  address: string,
  port: string,
) => 'allowed' | 'public' | 'port' | 'refused';

/** Only these addresses of IPv6 are given to hosts (IANA's registry): the rest is reserved or carries an IPv4 address. */
const GLOBAL = ipaddr.parseCIDR('2000::/3');

/** Where clouds tell a machine its secrets, or command it: nobody calls them, whatever is allowed. */
const isOfCloud = createNetworks([
  ...['169.254.0.0/16', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
  ...['fd00:ec2::/32', 'fd20:ce::/32'],
]);
const PORTS = ['', '443', '80'];
const isPort = (text: string) => text.startsWith(':');

/** `allowed` has addresses and networks, and ports like `:8443`. What is no address is refused. */
export function createJudge(allowed: readonly string[]): JudgeAddress {
  const isAllowed = createNetworks(allowed.filter((text) => !isPort(text)));
  return (text, port) => {
    if (!ipaddr.isValid(text)) return 'refused';
    const address = ipaddr.process(text);
    if (isOfCloud(address.toString())) return 'refused';
    if (isAllowed(address.toString())) return 'allowed';
    const isGlobal = address.kind() === 'ipv4' || address.match(GLOBAL);
    if (!isGlobal || address.range() !== 'unicast') return 'refused';
    return isOpen(port, allowed) ? 'public' : 'port';
  };
}

const isOpen = (port: string, allowed: readonly string[]) =>
  PORTS.includes(port) || allowed.includes(`:${port}`);

/** A URL's address without brackets; undefined for a name. The URL parser has turned every notation of IPv4 into the usual one. */
export function findLiteralAddress({ hostname }: URL): string | undefined {
  const text = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(text) ? text : undefined;
}

/** Why an address is not called for the URL. Plain HTTP is for the operator's own networks. */
export function findAddressFailure(
  { protocol, port }: Pick<URL, 'protocol' | 'port'>,
  address: string,
  judge: JudgeAddress,
): Failure | undefined {
  const kind = judge(address, port);
  if (kind === 'allowed' || (kind === 'public' && protocol === 'https:')) return undefined;
  const how = {
    public: ' by http://: use https://.',
    port: ` on port ${port}: the operator allows 443 and 80.`,
    refused: ': it is not public.',
  }[kind];
  return new Failure('validation_error', `Plumbline does not call ${address}${how}`);
}

const MAX_URL = 1_000;

/** The address of an endpoint as it is stored. A name is judged each time when it is called. */
export function parseWebhookUrl(text: string, allowed: readonly string[]): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || text.length > MAX_URL || !/^https?:$/.test(url.protocol))
    throw new Failure(
      'validation_error',
      `An endpoint has an address like https://example.com/hook, of at most ${MAX_URL} characters.`,
    );
  if (url.username !== '' || url.password !== '')
    throw new Failure('validation_error', 'The address of an endpoint has no name or password.');
  const address = findLiteralAddress(url);
  const refusal = address && findAddressFailure(url, address, createJudge(allowed));
  if (refusal) throw refusal;
  const hasNetworks = !allowed.every(isPort);
  if (url.protocol === 'http:' && !hasNetworks)
    throw new Failure('validation_error', 'The address of an endpoint begins with https://.');
  if (!isOpen(url.port, allowed) && !hasNetworks)
    throw new Failure('validation_error', 'An endpoint is on the port 443 or 80.');
  url.hash = '';
  return url.href;
}
