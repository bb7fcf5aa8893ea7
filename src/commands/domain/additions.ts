import { createReadStream } from 'node:fs';
import { parseDomainName } from '../../domain/domain-name.ts';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { describeSystemError } from '../../domain/system-error.ts';
import { insertDomain } from '../../store/domains/domains.ts';
import { listRelatedDomains } from '../../store/domains/related-domains.ts';
import type { Db } from '../../store/engine/database.ts';
import { type OutputOptions, printList, printOne, tell } from '../output/output.ts';
import { UsageError } from '../output/report-error.ts';
import { withAccount } from '../with-store.ts';

/** The size of a file of names. */
const MAX_BYTES = 1024 * 1024;

export async function addDomains(
  account: string,
  name: string | undefined,
  { file, ...output }: OutputOptions & { readonly file?: string },
): Promise<void> {
  if ((name === undefined) === (file === undefined))
    throw new UsageError('Give a name, or --file.');
  const names = file === undefined ? undefined : await readNames(file);
  await withAccount(account, async (db, accountId) => {
    if (names === undefined) return printOne(await addOne(db, accountId, name ?? ''), output);
    const added = [];
    for (const each of names) added.push(await tryToAdd(db, accountId, each));
    printList(added, { none: 'The file names no domain.' }, output);
    if (added.some(({ error }) => error !== null)) process.exitCode = 1;
  });
}

/** One a line; empty lines and those that begin with # are left out. */
async function readNames(file: string): Promise<string[]> {
  const stream: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file);
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of stream) {
      parts.push(part);
      bytes += part.length;
      if (bytes > MAX_BYTES) throw new Failure('validation_error', `${file} is over 1 MiB.`);
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('validation_error', `${file} cannot be read: ${describeSystemError(error)}.`);
  }
  const lines = Buffer.concat(parts).toString().split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

async function tryToAdd(db: Db, accountId: string, name: string) {
  try {
    const { domain, claimed_reports } = await addOne(db, accountId, name);
    return { domain, claimed_reports, error: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { domain: name, claimed_reports: null, error: error.message };
  }
}

async function addOne(db: Db, accountId: string, given: string) {
  await requireOwnable(given);
  const now = toInstant(new Date());
  const added = await insertDomain(db, { accountId, name: given, now });
  const { id, name, status, reports_total } = added;
  // Reports of a subdomain without a DMARC record of its own go to the owner of its parent.
  for (const other of await listRelatedDomains(db, accountId, name))
    tell(
      `Warning: the ${other.relation} ${other.name} belongs to another account, ${other.accountId}.`,
    );
  return { id, domain: name, status, claimed_reports: reports_total };
}

/**
 * Nobody owns a public suffix such as co.uk. Suffixes of private owners, such as github.io, are allowed: their
 * owner monitors them. The list of suffixes is loaded here only, because it takes 20 ms.
 */
async function requireOwnable(name: string): Promise<void> {
  const { getPublicSuffix } = await import('tldts');
  const parsed = parseDomainName(name);
  if (parsed === undefined || getPublicSuffix(parsed, { validateHostname: false }) !== parsed)
    return;
  throw new Failure(
    'validation_error',
    `“${parsed}” is a public suffix, under which others register their domains. Add a domain below it.`,
  );
}
