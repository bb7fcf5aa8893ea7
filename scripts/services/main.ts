/**
 * `npm run services -- base_reverse_dns_map.csv` writes `src/judging/services/services.tsv` from a copy of parsedmarc's map and from
 * `own.tsv` beside this file: one line for each service, with its kind, its name, and its organisational domains. A line of our own
 * wins over the map.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { getDomain } from 'tldts';
import {
  parseServices,
  type Service,
  type ServiceKind,
} from '../../src/domain/senders/services.ts';

/** Kinds that send mail for others. Access providers and companies that send their own are left out. */
const KINDS: Readonly<Record<string, ServiceKind>> = {
  'Email Provider': 'mailbox',
  'Email Security': 'security',
  IaaS: 'hosting',
  Marketing: 'marketing',
  PaaS: 'hosting',
  SaaS: 'software',
  'Web Host': 'hosting',
};

const [source] = process.argv.slice(2);
if (source === undefined) throw new Error('Name the file of the map.');

const map = readFileSync(source, 'utf8').split('\n').flatMap(parseLine);
const own = parseServices(readFileSync(new URL('own.tsv', import.meta.url), 'utf8'));

const services = new Map<string, string[]>();
for (const [domain, { kind, name }] of new Map([...map, ...own])) {
  const key = `${kind}\t${name}`;
  services.set(key, [...(services.get(key) ?? []), domain]);
}
const lines = [...services].map(([service, domains]) => `${service}\t${domains.sort().join(' ')}`);
const target = fileURLToPath(new URL('../../src/judging/services/services.tsv', import.meta.url));
writeFileSync(target, `${lines.sort().join('\n')}\n`);

/** Only the name can be in quotes. */
function parseLine(line: string): [string, Service][] {
  const [, domain = '', quoted, plain, type = ''] =
    /^([^,]+\.[^,]+),(?:"(.*)"|([^,]*)),([^,]+)$/.exec(line.trim()) ?? [];
  const kind = KINDS[type];
  const name = (quoted?.replaceAll('""', '"') ?? plain)?.trim();
  return name && kind && isOneOwners(domain) ? [[domain.toLowerCase(), { name, kind }]] : [];
}

/**
 * Strangers get names below a public suffix of a company, such as `github.io`: their mail is not the company's. A domain that is
 * below one, or that is no organisational domain, is never looked up.
 */
function isOneOwners(domain: string): boolean {
  return [true, false].every(
    (allowPrivateDomains) => getDomain(domain, { allowPrivateDomains }) === domain.toLowerCase(),
  );
}
