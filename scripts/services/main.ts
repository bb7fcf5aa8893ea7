/**
 * `npm run services -- base_reverse_dns_map.csv` writes `src/store/days/services/services.tsv` from a copy of parsedmarc's map: one line
 * for each service, with its kind, its name, and its organisational domains.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ServiceKind } from '../../src/domain/sources/services.ts';
import { OWN } from './own.ts';

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

const services = new Map<string, string[]>();
for (const [domain, name, kind] of withOwn(readFileSync(source, 'utf8'))) {
  const key = `${kind}\t${name}`;
  services.set(key, [...(services.get(key) ?? []), domain]);
}
const lines = [...services].map(([service, domains]) => `${service}\t${domains.sort().join(' ')}`);
const target = fileURLToPath(
  new URL('../../src/store/days/services/services.tsv', import.meta.url),
);
writeFileSync(target, `${lines.sort().join('\n')}\n`);

type Line = readonly [domain: string, name: string, kind: ServiceKind];

/** What the map calls as it calls a domain of ours is the same service. */
function withOwn(map: string): Iterable<Line> {
  const lines = new Map(
    map
      .split('\n')
      .flatMap(parseLine)
      .map((line) => [line[0], line]),
  );
  const renamed = new Map(OWN.map((own) => [lines.get(own[0])?.[1], own]));
  // Of another company than the map says.
  renamed.delete('domainfactory GmbH');
  for (const [domain, name] of lines.values()) {
    const [, ownName, kind] = renamed.get(name) ?? [];
    if (ownName !== undefined && kind !== undefined) lines.set(domain, [domain, ownName, kind]);
  }
  for (const own of OWN) lines.set(own[0], own);
  return lines.values();
}

/** Only the name can be in quotes. */
function parseLine(line: string): Line[] {
  const [, domain, quoted, plain, type = ''] =
    /^([^,]+\.[^,]+),(?:"(.*)"|([^,]*)),([^,]+)$/.exec(line.trim()) ?? [];
  const kind = KINDS[type];
  const name = (quoted?.replaceAll('""', '"') ?? plain)?.trim();
  return domain && name && kind ? [[domain.toLowerCase(), name, kind]] : [];
}
