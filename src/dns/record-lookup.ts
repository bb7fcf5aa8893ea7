import { Resolver } from 'node:dns/promises';
import {
  findRecord,
  type RecordType,
  type RecordValue,
  toRecordName,
} from '../domain/dns/dns-record.ts';

/** How long one server may take, and how often all of them are asked. */
export const RESOLVER_OPTIONS = { timeout: 3_000, tries: 2 } as const;

/** The name does not exist or has no TXT record: an answer like any other (NXDOMAIN, NODATA). */
const ABSENT = new Set(['ENOTFOUND', 'ENODATA']);

/** A domain's record of a type; undefined when no server answered (SERVFAIL, timeout), which never counts. */
export type LookUp = (type: RecordType, domain: string) => Promise<RecordValue | undefined>;

/** Queries the given servers, or the system's when none are given. */
export function createLookUp(
  servers: readonly string[],
  timeoutMs: number = RESOLVER_OPTIONS.timeout,
): LookUp {
  const resolver = new Resolver({ ...RESOLVER_OPTIONS, timeout: timeoutMs });
  if (servers.length > 0) resolver.setServers(servers);
  return async (type, domain) => {
    const texts = await orAbsent(resolver.resolveTxt(toRecordName(type, domain)));
    // A text is sent in strings of at most 255 bytes (RFC 7208, 3.3).
    return (
      texts &&
      findRecord(
        type,
        texts.map((strings) => strings.join('')),
      )
    );
  };
}

/** An answer; null when there is nothing at the name; undefined when no server answered. */
export async function orAbsent<T>(answer: Promise<T>): Promise<T | null | undefined> {
  try {
    return await answer;
  } catch (error) {
    return ABSENT.has((error as NodeJS.ErrnoException).code ?? '') ? null : undefined;
  }
}
