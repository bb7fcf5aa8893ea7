import { Resolver } from 'node:dns/promises';
import {
  findRecord,
  type RecordType,
  type RecordValue,
  toRecordName,
} from '../domain/dns-record.ts';

/** How long one server may take, and how often all of them are asked. */
const TIMEOUT_MS = 3_000;
const TRIES = 2;

/** There is no such name, or no text there: an answer like any other (NXDOMAIN, NODATA). */
const ABSENT = new Set(['ENOTFOUND', 'ENODATA']);

/** A domain's record of a type; undefined when nobody could say (SERVFAIL, no answer), which never counts. */
export type LookUp = (type: RecordType, domain: string) => Promise<RecordValue | undefined>;

/** Asks the servers, or the system's when there are none. */
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
