import { decodeUrlPart } from '../domain/url-part.ts';

type Scheme = readonly [protocol: string, port: number];

/**
 * `imaps://user@host/path`. The scheme without TLS is upgraded by STARTTLS; only on this machine it stays in plain
 * text. The path has no slash before it. undefined for any other text, and for a URL with a password, which would show up in
 * messages.
 */
export function parseMailUrl(
  value: string,
  schemes: { readonly tls: Scheme; readonly starttls: Scheme },
) {
  if (!/^\w+:\/\//.test(value) || !URL.canParse(value)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(value);
  const scheme = Object.values(schemes).find(([name]) => name === protocol);
  const host = hostname.replace(/^\[(.+)\]$/, '$1').toLowerCase();
  const [user, path] = [decodeName(username), decodeName(pathname.slice(1))];
  if (scheme === undefined || host === '' || user === undefined || path === undefined)
    return undefined;
  if (`${password}${search}${hash}` !== '') return undefined;
  const plain = isLoopback(host) ? ('none' as const) : ('starttls' as const);
  return {
    host,
    path,
    user: user || undefined,
    port: port === '' ? scheme[1] : Number(port),
    security: scheme === schemes.tls ? ('tls' as const) : plain,
  };
}

/** undefined for text with control characters, which no name has. */
function decodeName(encoded: string): string | undefined {
  const name = decodeUrlPart(encoded);
  return name === undefined || /\p{Cc}/u.test(name) ? undefined : name;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
