import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { LookUp } from '../dns/record-lookup.ts';
import { findReportAddresses } from '../domain/dns/report-addresses.ts';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import { plumbline } from '../store/accounts/audit.ts';
import { insertDomain } from '../store/accounts/domains.ts';
import { findMailToken } from '../store/accounts/mail-address.ts';
import { isUnclaimed } from '../store/accounts/unclaimed.ts';
import type { Db } from '../store/engine/database.ts';

/** A domain whose record does not name the account is not looked up again for this time. */
const AGAIN_MS = 3_600_000;
const REMEMBERED = 10_000;

/** All look-ups for reports that were read together may take so long: the worker waits for them. */
const LOOK_UP_MS = 2_000;

interface Given {
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

/** Gives accounts those of their domains that are their own, and returns these. */
export type ClaimDomains = (
  names: ReadonlyMap<string, ReadonlySet<string>>,
) => Promise<readonly Claimed[]>;

/**
 * A report that came by an account's own address makes its domain the account's, when no account has it and its
 * DMARC record in DNS names exactly this address. Anybody can send a report about any domain to the address,
 * which is public in DNS; only the owner of the domain can publish the record (decision 77). A domain whose name
 * servers did not answer in time is asked for again with its next report.
 */
export function createClaims(given: Given): ClaimDomains {
  const { db, mailHost, lookUp, lookUpMs = LOOK_UP_MS } = given;
  const refused = new LRUCache<string, true>({ max: REMEMBERED, ttl: AGAIN_MS });
  return async (names) => {
    if (mailHost === undefined) return [];
    const late = sleep(lookUpMs, undefined, { ref: false });
    const lookUpSoon: LookUp = (type, name) => Promise.race([lookUp(type, name), late]);
    const wanted = await listWanted(db, names);
    const claimed = wanted.map(async ({ token, ...domain }) => {
      const address = `${token}@${mailHost}`;
      return await claimOne({ ...given, lookUp: lookUpSoon, refused }, { ...domain, address });
    });
    return (await Promise.all(claimed)).filter((one) => one !== undefined);
  };
}

async function listWanted(db: Db, names: ReadonlyMap<string, ReadonlySet<string>>) {
  const wanted: (Claimed & { readonly token: string })[] = [];
  for (const [accountId, some] of names) {
    const token = await findMailToken(db, accountId);
    for (const name of some) wanted.push({ accountId, name, token });
  }
  return wanted;
}

async function claimOne(
  { db, lookUp, now, refused }: Given & { readonly refused: LRUCache<string, true> },
  { accountId, name, address }: Claimed & { readonly address: string },
): Promise<Claimed | undefined> {
  const asked = `${address} ${name}`;
  if (refused.has(asked) || !(await isUnclaimed(db, name))) return undefined;
  const record = await lookUp('dmarc', name);
  if (record === undefined) return undefined;
  if (findReportAddresses(record).includes(address)) {
    const claimed = await claim(db, { accountId, name, now: toInstant(now()) });
    return claimed === undefined ? undefined : { accountId, name: claimed };
  }
  refused.set(asked, true);
  return undefined;
}

/** undefined when another account has it by now. */
async function claim(
  db: Db,
  domain: Parameters<typeof insertDomain>[1],
): Promise<string | undefined> {
  try {
    return (await insertDomain(db, domain, plumbline(domain.now))).name;
  } catch (error) {
    if (error instanceof Failure && error.code === 'conflict') return undefined;
    throw error;
  }
}
