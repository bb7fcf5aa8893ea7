import { Resolver } from 'node:dns/promises';
import {
  findRecord,
  type RecordType,
  type RecordValue,
  toRecordName,
} from '../domain/dns/dns-record.ts';

/** How long one server may take, and how often all of them are asked. */
const TIMEOUT_MS = 3_000;
const TRIES = 2;

/** The name does not exist or has no TXT record: an answer like any other (NXDOMAIN, NODATA). */
const ABSENT = new Set(['ENOTFOUND', 'ENODATA']);

/** A domain's record of a type; undefined when no server answered (SERVFAIL, timeout), which never counts. */
export type LookUp = (type: RecordType, domain: string) => Promise<RecordValue | undefined>;

/** Queries the given servers, or the system's when none are given. */
export function createLookUp(servers: readonly string[], timeoutMs = TIMEOUT_MS): LookUp {
  const resolver = new Resolver({ timeout: timeoutMs, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return async (type, domain) => {
    try {
      const texts = await resolver.resolveTxt(toRecordName(type, domain));
      // A text is sent in strings of at most 255 bytes (RFC 7208, 3.3).
      return findRecord(
        type,
        texts.map((strings) => strings.join('')),
      );
    } catch (error) {
      return ABSENT.has((error as NodeJS.ErrnoException).code ?? '') ? null : undefined;
    }
  };
}
