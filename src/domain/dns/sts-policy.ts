import type { TlsMode } from '../reports/tls-report.ts';

/* The policy file of MTA-STS (RFC 8461, 3.2). */

/** What is wrong with a policy file, or with the answer to the request for it. */
export type StsPolicyFinding =
  | 'unreachable'
  | 'bad_certificate'
  | 'redirect'
  | 'status'
  | 'too_large'
  | 'invalid'
  | 'not_text'
  | 'short_max_age'
  | 'mx_not_covered';

const MAX_AGE_S = 31_557_600;
const DAY_S = 86_400;
const FIELD = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31}):[ \t]*(.*?)[ \t]*$/;
const MX = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

/** What a valid policy file says. */
export interface StsPolicy {
  readonly mode: TlsMode;
  /** Hosts, or patterns such as `*.example.com`. */
  readonly mx: readonly string[];
  readonly maxAge: number;
}

/** `exchangers` of the domain; undefined when nobody answered. */
export function checkStsPolicy(
  file: string,
  exchangers: readonly string[] | undefined,
): readonly StsPolicyFinding[] {
  const policy = parseStsPolicy(file);
  if (policy === undefined) return ['invalid'];
  // Senders withdraw the policy then, and the rest says nothing to them.
  if (policy.mode === 'none') return [];
  const isCovered = (exchanger: string) => policy.mx.some((pattern) => covers(pattern, exchanger));
  return [
    ...(policy.maxAge < DAY_S ? (['short_max_age'] as const) : []),
    ...(exchangers?.every(isCovered) === false ? (['mx_not_covered'] as const) : []),
  ];
}

/** The first field of a name counts, all of `mx`, and unknown ones do not. undefined for what senders do not accept. */
export function parseStsPolicy(file: string): StsPolicy | undefined {
  const lines = file.replace(/\r?\n$/, '').split(/\r?\n/);
  const matches = lines.map((line) => FIELD.exec(line));
  if (matches.some((match) => match === null)) return undefined;
  const fields = matches.map((match) => [match?.[1] ?? '', match?.[2] ?? ''] as const);
  const find = (name: string) => fields.find(([one]) => one === name)?.[1] ?? '';
  const mx = fields.filter(([name]) => name === 'mx').map(([, text]) => text);
  const [mode, age] = [find('mode'), find('max_age')];
  const maxAge = /^\d{1,10}$/.test(age) ? Number(age) : Number.POSITIVE_INFINITY;
  const isValid =
    find('version') === 'STSv1' &&
    /^(enforce|testing|none)$/.test(mode) &&
    maxAge <= MAX_AGE_S &&
    (mx.length > 0 || mode === 'none') &&
    mx.every((pattern) => MX.test(pattern));
  return isValid ? { mode: mode as TlsMode, mx, maxAge } : undefined;
}

/** `*.` stands for exactly one label (RFC 8461, 4.1). */
function covers(pattern: string, exchanger: string): boolean {
  const host = exchanger.toLowerCase().replace(/\.$/, '');
  const wanted = pattern.toLowerCase();
  if (!wanted.startsWith('*.')) return host === wanted;
  return host.includes('.') && host.slice(host.indexOf('.')) === wanted.slice(1);
}
