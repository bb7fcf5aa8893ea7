import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { TlsPolicy } from './tls-report.ts';

/** The form of the bytes that follow: another than those of an aggregate report (report-content.ts). */
const FORM = 2;
/** Policies and failures are bounded, and so are their texts. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

/** The policies in one order, however they are written: equal ones have equal texts. */
export function toPayload(policies: readonly TlsPolicy[]): readonly string[] {
  const sorted = policies.map(({ details, mxHosts, ...policy }) => ({
    ...policy,
    mxHosts: mxHosts.toSorted(),
    details: details.map((one) => JSON.stringify(one)).sort(),
  }));
  return sorted.map((one) => JSON.stringify(one)).sort();
}

export function packTls(policies: readonly TlsPolicy[]): Uint8Array {
  return Buffer.concat([Buffer.of(FORM), deflateRawSync(JSON.stringify(policies))]);
}

/** undefined when the content is damaged, or is that of an aggregate report. */
export function findPolicies(content: Uint8Array): readonly TlsPolicy[] | undefined {
  if (content[0] !== FORM) return undefined;
  try {
    const options = { maxOutputLength: MAX_UNPACKED_BYTES };
    return JSON.parse(inflateRawSync(content.subarray(1), options).toString());
  } catch {
    return undefined;
  }
}
