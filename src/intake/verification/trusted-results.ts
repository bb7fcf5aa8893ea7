import type { ARCData } from 'mailauth';
import { parseDomainName } from '../../domain/domain-name.ts';
import type { Field } from '../containers/mime.ts';
import type { Signatures } from './signatures.ts';

interface Options {
  readonly trustedServers: readonly string[];
  readonly resolver: (name: string, type: string) => Promise<string[]>;
  /** Whether the signature under the last seal says what the report is. */
  readonly isSealed: boolean;
}

/** A name that a server found to have signed, or by SPF to have sent, the mail. */
export interface Result {
  readonly name: string;
  readonly isSigned: boolean;
}

/** What servers of the operator's found: in their own field, or under their seal. */
export async function listTrustedResults(
  fields: readonly Field[],
  { arc: chain, isSealTrusted }: Signatures,
  { trustedServers, resolver, isSealed }: Options,
): Promise<Result[]> {
  const isTrusted = (name: string) => trustedServers.includes(name.toLowerCase());
  // A server writes above what came to it: a field further down may be the sender's.
  const own = fields
    .filter(({ name }) => name === 'authentication-results')
    .map(({ text }) => parseResults(text))
    .find(({ server }) => isTrusted(server));
  const names = own?.names ?? [];
  if (!isSealTrusted || !isSealed) return names;
  const { arc } = (await import('mailauth/lib/arc/index.js')).default;
  const { status } = await arc(chain as ARCData, { resolver });
  const sealed = chain.lastEntry?.['arc-authentication-results']?.original;
  if (status.result !== 'pass' || sealed === undefined) return names;
  return [...names, ...parseResults(`${sealed}`, ARC_INSTANCE).names];
}

const ARC_INSTANCE = /^\s*i\s*=\s*\d+\s*;/;
const COMMENT = /\((?:[^()\\]|\\.)*\)/gs;
const PASSED = /^\s*(dkim|spf)\s*=\s*pass\s/i;
const PROPERTY = /\s(?:header\.d|header\.i|smtp\.mailfrom)\s*=\s*(\S+)/i;

/** Authentication-Results (RFC 8601, 2.2). A field with quoted text or nested comments, which may be the sender's, names nobody. */
function parseResults(text: string, beginning = /^/): { server: string; names: Result[] } {
  const value = text.slice(text.indexOf(':') + 1).replace(COMMENT, ' ');
  const [server = '', ...results] = value.replace(beginning, '').split(';');
  const names = results.flatMap((result) => {
    const [, method = ''] = PASSED.exec(result) ?? [];
    const [, found = ''] = (method && PROPERTY.exec(result)) || [];
    const name = parseDomainName(found.slice(found.lastIndexOf('@') + 1));
    return name === undefined ? [] : [{ name, isSigned: method.toLowerCase() === 'dkim' }];
  });
  // The identifier may have a version after it.
  const [name = ''] = server.trim().split(/\s+/);
  return { server: name, names: /["()]/.test(value) ? [] : names };
}
