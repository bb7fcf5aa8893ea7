import { createReadStream } from 'node:fs';
import { parseDomainName } from '../../domain/domain-name.ts';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { describeSystemError } from '../../domain/system-error.ts';
import { type DomainRow, insertDomains } from '../../store/domains/domains.ts';
import { listRelatedDomains } from '../../store/domains/related-domains.ts';
import type { Db } from '../../store/engine/database.ts';
import { type OutputOptions, printList, printOne, tell } from '../output/output.ts';
import { UsageError } from '../output/report-error.ts';
import { withAccount } from '../with-store.ts';

/** The size of a file of names. */
const MAX_BYTES = 1024 * 1024;

/** So many are added in one transaction. */
const AT_ONCE = 500;

type Outcome = DomainRow | Failure;

export async function addDomains(
  account: string,
  name: string | undefined,
  { file, ...output }: OutputOptions & { readonly file?: string },
): Promise<void> {
  if ((name === undefined) === (file === undefined))
    throw new UsageError('Give a name, or --file.');
  const names = file === undefined ? [name ?? ''] : await readNames(file);
  await withAccount(account, async (db, accountId) => {
    const added = await addAll(db, accountId, names);
    if (file === undefined) return printAdded(added[0] as Outcome, output);
    const rows = added.map((outcome, i) => toRow(names[i] ?? '', outcome));
    printList(rows, { none: 'The file names no domain.' }, output);
    if (rows.some(({ error }) => error !== null)) process.exitCode = 1;
  });
}

function printAdded(outcome: Outcome, output: OutputOptions): void {
  if (outcome instanceof Failure) throw outcome;
  const { id, name: domain, status } = outcome;
  printOne({ id, domain, status, ...toClaimed(outcome) }, output);
}

function toRow(given: string, outcome: Outcome) {
  if (outcome instanceof Failure)
    return {
      domain: given,
      claimed_reports: null,
      claimed_tls_reports: null,
      error: outcome.message,
    };
  return { domain: outcome.name, ...toClaimed(outcome), error: null };
}

const toClaimed = ({ reports_total, tls_total }: DomainRow) => ({
  claimed_reports: reports_total,
  claimed_tls_reports: tls_total,
});

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

async function addAll(
  db: Db,
  accountId: string,
  names: readonly string[],
): Promise<readonly Outcome[]> {
  // Loaded here only: the list of suffixes takes 20 ms.
  const { getPublicSuffix } = await import('tldts');
  const toSuffix = (name: string) => getPublicSuffix(name, { validateHostname: false });
  const checked = names.map((name) => toOwnable(name, toSuffix));
  const good = checked.filter((name) => typeof name === 'string');
  const added: Outcome[] = [];
  for (let from = 0; from < good.length; from += AT_ONCE) {
    const some = good.slice(from, from + AT_ONCE);
    added.push(
      ...(await insertDomains(db, { accountId, names: some, now: toInstant(new Date()) })),
    );
  }
  const own = added.flatMap((outcome) => (outcome instanceof Failure ? [] : [outcome.name]));
  // Reports of a subdomain without a DMARC record of its own go to the owner of its parent.
  for (const other of await listRelatedDomains(db, accountId, own))
    tell(
      `Warning: the ${other.relation} ${other.name} belongs to another account, ${other.accountId}.`,
    );
  const outcomes = added.values();
  return checked.map((name) =>
    name instanceof Failure ? name : (outcomes.next().value as Outcome),
  );
}

/**
 * The name as it is stored. Nobody owns a public suffix such as co.uk. Suffixes of private owners, such as github.io, are
 * allowed: their owner monitors them.
 */
function toOwnable(name: string, toSuffix: (name: string) => string | null): string | Failure {
  const parsed = parseDomainName(name);
  if (parsed === undefined)
    return new Failure('validation_error', `“${name}” is not a domain name.`);
  if (toSuffix(parsed) !== parsed) return parsed;
  return new Failure(
    'validation_error',
    `“${parsed}” is a public suffix, under which others register their domains. Add a domain below it.`,
  );
}
