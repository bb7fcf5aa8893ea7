import {
  findRecord,
  type RecordType,
  type RecordValue,
  toRecordName,
} from '../domain/dns/dns-record.ts';
import { createDns } from './resolver.ts';

/** A domain's record of a type; undefined when no server answered (SERVFAIL, timeout), which never counts. */
export type LookUp = (type: RecordType, domain: string) => Promise<RecordValue | undefined>;

/** Queries the given servers, or the system's when none are given. */
export function createLookUp(servers: readonly string[], timeoutMs?: number): LookUp {
  const dns = createDns(servers, timeoutMs);
  return async (type, domain) => {
    const texts = await dns.findTexts(toRecordName(type, domain));
    return texts && findRecord(type, texts);
  };
}
