import type { ARCData, DKIMVerifyResult } from 'mailauth';
import { parseDomainName } from '../../domain/domain-name.ts';

/** The names that servers of the operator's found to have signed or sent the mail: in their own field, or under their seal. */
export async function listTrustedResults(
  { headers, arc: chain }: DKIMVerifyResult,
  servers: readonly string[],
  options: { readonly resolver: (name: string, type: string) => Promise<string[]> },
): Promise<string[]> {
  const isTrusted = (name: unknown) => servers.includes(`${name}`.toLowerCase());
  // A server writes above what came to it: a field further down may be the sender's.
  const own = headers?.parsed
    .filter(({ key }) => key === 'authentication-results')
    .map(({ line }) => parseResults(line.toString('latin1')))
    .find(({ server }) => isTrusted(server));
  const names = [...(own?.names ?? [])];
  const seal = chain?.lastEntry?.['arc-seal']?.parsed?.d?.value;
  if (!chain || !isTrusted(seal)) return names;
  const { arc } = (await import('mailauth/lib/arc/index.js')).default;
  const { status, signature } = await arc(chain as ARCData, options);
  const isWhole = signature !== false && !signature?.canonBodyLengthLimited;
  const sealed = chain.lastEntry?.['arc-authentication-results']?.original;
  if (status.result !== 'pass' || !isWhole || sealed === undefined) return names;
  return [...names, ...parseResults(`${sealed}`, ARC_INSTANCE).names];
}

const ARC_INSTANCE = /^\s*i\s*=\s*\d+\s*;/;
const COMMENT = /\((?:[^()\\]|\\.)*\)/gs;
const PASSED = /^\s*(?:dkim|spf)\s*=\s*pass\s/i;
const PROPERTY = /\s(?:header\.d|header\.i|smtp\.mailfrom)\s*=\s*(\S+)/i;

/** Authentication-Results (RFC 8601, 2.2). A field with quoted text or nested comments, which may be the sender's, names nobody. */
function parseResults(text: string, beginning = /^/): { server: string; names: string[] } {
  const value = text.slice(text.indexOf(':') + 1).replace(COMMENT, ' ');
  const [server = '', ...results] = value.replace(beginning, '').split(';');
  const names = results.flatMap((result) => {
    const [, found = ''] = (PASSED.test(result) && PROPERTY.exec(result)) || [];
    return parseDomainName(found.slice(found.lastIndexOf('@') + 1)) ?? [];
  });
  // The identifier may have a version after it.
  const [name = ''] = server.trim().split(/\s+/);
  return { server: name, names: /["()]/.test(value) ? [] : names };
}
