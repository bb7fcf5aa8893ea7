import { readKey } from '../domain/dns/dkim-key.ts';
import {
  type LookedRecords,
  type SenderName,
  toSenderRecordName,
} from '../domain/dns/sender-records.ts';
import { remember } from '../domain/remember.ts';
import { askInTime } from './resolver.ts';
import { checkSpf } from './spf-lookup.ts';

/** All questions about a domain may take so long. */
const DEADLINE_MS = 20_000;

/** Asks DNS, once for each name, for the SPF records and keys that reports about a domain name. */
export function lookUpSenderRecords(
  servers: readonly string[],
  names: readonly SenderName[],
  deadlineMs: number = DEADLINE_MS,
): Promise<LookedRecords> {
  return askInTime(servers, deadlineMs, async (dns) => {
    const findTexts = remember(dns.findTexts);
    const findExchangers = remember(dns.findExchangers);
    const families = { 4: remember(find(4)), 6: remember(find(6)) };
    const once = {
      findTexts,
      findExchangers,
      findAddresses: (name: string, family: 4 | 6) => families[family](name),
    };
    function find(family: 4 | 6) {
      return (name: string) => dns.findAddresses(name, family);
    }
    const ofSpf = names.filter(({ selector }) => selector === null);
    const spf = ofSpf.map(async (name) => ({ ...name, found: await checkSpf(once, name.domain) }));
    const keys = names
      .filter(({ selector }) => selector !== null)
      .map(async (name) => {
        const texts = await dns.findTexts(toSenderRecordName(name));
        return { ...name, found: texts === undefined ? undefined : readKey(texts ?? []) };
      });
    return { spf: await Promise.all(spf), keys: await Promise.all(keys) };
  });
}
