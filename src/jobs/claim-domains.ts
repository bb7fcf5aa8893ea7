import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { LookUp } from '../dns/record-watch.ts';
import { findReportAddresses } from '../domain/dns/report-addresses.ts';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import { findMailToken } from '../store/accounts/mail-address.ts';
import { isUnclaimed } from '../store/domains/domain-reports.ts';
import type { NewDomain } from '../store/domains/domains.ts';
import { claimOrPropose } from '../store/domains/proposals.ts';
import type { Db } from '../store/engine/database.ts';

/** A domain that did not become the account's is not looked up again for this time. */
const AGAIN_MS = 3_600_000;
const REMEMBERED = 10_000;

/** All look-ups for reports that were read together may take so long: the worker waits for them. */
const LOOK_UP_MS = 2_000;

interface ClaimsDeps {
  readonly db: Db;
  readonly lookUp: LookUp;
  readonly now: () => Date;
  /** The domain of every account's own address. Without one, no account has an address. */
  readonly mailHost: string | undefined;
  readonly lookUpMs?: number;
}

interface Claimed {
  readonly accountId: string;
  readonly name: string;
}

/**
 * Returns what gives accounts those of the named domains that are their own, and returns these. A report that came by an account's own address proposes its domain to the account, or makes it the account's, when no
 * account has it and its DMARC record in DNS names exactly this address. Anybody can send a report about any domain to
 * the address, which is public in DNS; only the owner of the domain can publish the record (decision 77). A domain
 * whose name servers did not answer in time is asked for again with its next report.
 */
export function createClaims(deps: ClaimsDeps) {
  const { db, mailHost, lookUp, lookUpMs = LOOK_UP_MS } = deps;
  const unclaimed = new LRUCache<string, true>({ max: REMEMBERED, ttl: AGAIN_MS });
  return async (namesByAccount: ReadonlyMap<string, ReadonlySet<string>>) => {
    if (mailHost === undefined) return [];
    const late = sleep(lookUpMs, undefined, { ref: false });
    const lookUpSoon: LookUp = (type, name) => Promise.race([lookUp(type, name), late]);
    const given = { ...deps, lookUp: lookUpSoon, unclaimed };
    const claimed: Promise<Claimed | undefined>[] = [];
    for (const [accountId, names] of namesByAccount) {
      const address = `${await findMailToken(db, accountId)}@${mailHost}`;
      for (const name of names) claimed.push(claimOne(given, { accountId, name }, address));
    }
    return (await Promise.all(claimed)).filter((one) => one !== undefined);
  };
}

/** `address` is the account's own. */
async function claimOne(
  { db, lookUp, now, unclaimed }: ClaimsDeps & { readonly unclaimed: LRUCache<string, true> },
  { accountId, name }: Claimed,
  address: string,
): Promise<Claimed | undefined> {
  const key = `${address} ${name}`;
  if (unclaimed.has(key) || !(await isUnclaimed(db, name))) return undefined;
  const record = await lookUp('dmarc', name);
  if (record === undefined) return undefined;
  const claim = { accountId, name, now: toInstant(now()) };
  if (findReportAddresses(record).includes(address) && (await tryToClaim(db, claim)))
    return { accountId, name };
  unclaimed.set(key, true);
  return undefined;
}

async function tryToClaim(db: Db, claim: NewDomain): Promise<boolean> {
  try {
    return await claimOrPropose(db, claim);
  } catch (error) {
    // Another account has it by now.
    if (error instanceof Failure && error.code === 'conflict') return false;
    throw error;
  }
}
