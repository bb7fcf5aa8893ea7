import ipaddr from 'ipaddr.js';
import { Failure } from '../failure.ts';
import { createNetworks } from '../network-address.ts';

/** `allowed`: in a network that the operator allows. `public`: anybody may be called there. */
export type JudgeAddress = (address: string) => 'allowed' | 'public' | 'refused';

/** Only these addresses of IPv6 are given to hosts (IANA's registry): the rest is reserved or carries an IPv4 address. */
const GLOBAL = ipaddr.parseCIDR('2000::/3');

/** `allowed` has addresses and networks. What is no address is refused. */
export function createJudge(allowed: readonly string[]): JudgeAddress {
  const isAllowed = createNetworks(allowed);
  return (text) => {
    if (!ipaddr.isValid(text)) return 'refused';
    const address = ipaddr.process(text);
    if (isAllowed(address.toString())) return 'allowed';
    const isGlobal = address.kind() === 'ipv4' || address.match(GLOBAL);
    return isGlobal && address.range() === 'unicast' ? 'public' : 'refused';
  };
}

/** A URL's address without brackets; undefined for a name. The URL parser has turned every notation of IPv4 into the usual one. */
export function findLiteralAddress({ hostname }: URL): string | undefined {
  const text = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(text) ? text : undefined;
}

/** Why an address is not called for the URL. Plain HTTP is for the operator's own networks. */
export function findRefusal(
  { protocol }: Pick<URL, 'protocol'>,
  address: string,
  judge: JudgeAddress,
): Failure | undefined {
  const kind = judge(address);
  if (kind === 'allowed' || (kind === 'public' && protocol === 'https:')) return undefined;
  const how = kind === 'public' ? ' by http://: use https://.' : ': it is not public.';
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
  const refusal = address && findRefusal(url, address, createJudge(allowed));
  if (refusal) throw refusal;
  if (url.protocol === 'http:' && allowed.length === 0)
    throw new Failure('validation_error', 'The address of an endpoint begins with https://.');
  url.hash = '';
  return url.href;
}
