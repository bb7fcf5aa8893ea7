import { LRUCache } from 'lru-cache';
import type { LookUp } from '../../alerts/dns-lookup.ts';
import { findReportAddresses } from '../../domain/dns/report-addresses.ts';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { insertDomain } from '../../store/accounts/domains.ts';
import { findMailToken } from '../../store/accounts/mail-address.ts';
import { isUnclaimed } from '../../store/accounts/unclaimed.ts';
import type { Db } from '../../store/connection/database.ts';

/** A domain whose record does not name the account is not looked up again for this time. */
const AGAIN_MS = 3_600_000;
const REMEMBERED = 10_000;

interface Given {
  readonly db: Db;
  readonly lookUp: LookUp;
  readonly now: () => Date;
  /** The domain of every account's own address. Without one, no account has an address. */
  readonly mailHost: string | undefined;
}

/** Gives an account those of the domains that are its own, and returns their names. */
export type ClaimDomains = (accountId: string, names: ReadonlySet<string>) => Promise<string[]>;

/**
 * A report that came by an account's own address makes its domain the account's, when no account has it and its
 * DMARC record in DNS names exactly this address. Anybody can send a report about any domain to the address,
 * which is public in DNS; only the owner of the domain can publish the record (decision 77).
 */
export function createClaims({ db, lookUp, now, mailHost }: Given): ClaimDomains {
  const refused = new LRUCache<string, true>({ max: REMEMBERED, ttl: AGAIN_MS });
  return async (accountId, names) => {
    if (mailHost === undefined) return [];
    const address = `${await findMailToken(db, accountId)}@${mailHost}`;
    const claimed = [...names].map(async (name) => {
      const asked = `${address} ${name}`;
      if (refused.has(asked) || !(await isUnclaimed(db, name))) return undefined;
      const record = await lookUp('dmarc', name);
      if (record !== undefined && findReportAddresses(record).includes(address))
        return await claim(db, { accountId, name, now: toInstant(now()) });
      refused.set(asked, true);
      return undefined;
    });
    return (await Promise.all(claimed)).filter((name) => name !== undefined);
  };
}

/** undefined when another account has it by now. */
async function claim(
  db: Db,
  domain: Parameters<typeof insertDomain>[1],
): Promise<string | undefined> {
  try {
    return (await insertDomain(db, domain)).name;
  } catch (error) {
    if (error instanceof Failure && error.code === 'conflict') return undefined;
    throw error;
  }
}
