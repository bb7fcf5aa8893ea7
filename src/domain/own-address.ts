/** Where the docs show the server. What serves them puts its own address there, so that their samples work as pasted. */
export const SHOWN_ADDRESS = 'http://127.0.0.1:8080';

/** A name or an address, and a port: any other character could end a link, a line or a command that shows it. */
const HOST = /^(?:[a-z\d._-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** What the operator has set, or else the address of the request; without a slash at the end. */
export function toOwnAddress(
  { host = '', secure }: { readonly host?: string; readonly secure: boolean },
  baseUrl: string | undefined,
): string {
  if (baseUrl !== undefined) return baseUrl;
  const address = `${secure ? 'https' : 'http'}://${host}`;
  return HOST.test(host) && URL.canParse(address) ? new URL(address).origin : SHOWN_ADDRESS;
}
