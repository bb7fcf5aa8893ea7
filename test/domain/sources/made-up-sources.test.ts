import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadOrganizationalDomains } from '../../../src/domain/dns/organizational-domain.ts';
import { isTls } from '../../../src/domain/reports/report.ts';
import { unpackContent } from '../../../src/domain/reports/report-content.ts';
import { parsePattern } from '../../../src/domain/reports/source-pattern.ts';
import { createNamer } from '../../../src/domain/senders/service-name.ts';
import { parseServices } from '../../../src/domain/senders/services.ts';
import {
  addReport,
  keepLargest,
  type SourceSums,
} from '../../../src/domain/sources/day-sources.ts';
import { openSample, SAMPLES } from '../../support/corpus.ts';
import { readAll } from '../../support/intake.ts';

const TSV = new URL('../../../src/judging/services/services.tsv', import.meta.url);
const SOURCES = 500;

/** The same numbers each time (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const NOBODY = {
  dkim: 'shop.example',
  spf: 'bounce.shop.example',
  dns: 'mx.shop.example',
} as const;

/** Where the domain of a service is said, and what else is said: `wanted` is undefined for who is no service. */
const KINDS = {
  signed: (domain: string) => ({
    dkim: [domain, 'pass'] as const,
    spf: NOBODY.spf,
    dns: undefined,
  }),
  sent: (domain: string) => ({ dkim: undefined, spf: `bounce.${domain}`, dns: undefined }),
  named: (domain: string) => ({ dkim: undefined, spf: undefined, dns: `mx1.${domain}` }),
  stranger: () => ({ dkim: [NOBODY.dkim, 'pass'] as const, spf: NOBODY.spf, dns: NOBODY.dns }),
  silent: () => ({ dkim: undefined, spf: undefined, dns: undefined }),
  impostor: (domain: string) => ({
    dkim: [`${domain}.example`, 'pass'] as const,
    spf: `mail.${domain}.example`,
    dns: `${domain}.example`,
  }),
  broken: (domain: string) => ({ dkim: [domain, 'fail'] as const, spf: undefined, dns: undefined }),
} as const;

const KIND_NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];
const EVIDENCE = { signed: 'dkim', sent: 'spf', named: 'dns' } as const;

test('of 500 made-up sources each that shows evidence is named by it, and no name is wrong', async () => {
  const services = parseServices(readFileSync(TSV, 'utf8'));
  const toOrganizationalDomain = await loadOrganizationalDomains();
  const nameService = createNamer({ domain: 'example.com', services, toOrganizationalDomain });
  // A name below a suffix that companies give to strangers is not its own organisational domain.
  const domains = [...services.keys()].filter((one) => toOrganizationalDomain(one) === one);
  const random = createRandom(27);
  const messages = { all: 0, dkim: 0, spf: 0, dns: 0 };
  for (let i = 0; i < SOURCES; i += 1) {
    const kind = KIND_NAMES[random(KIND_NAMES.length)] as (typeof KIND_NAMES)[number];
    const domain = domains[random(domains.length)] as string;
    const { dkim, spf, dns } = KINDS[kind](domain);
    const count = 1 + random(1_000);
    const seen = {
      dkim: dkim ? [{ domain: dkim[0], selector: 's', result: dkim[1] }] : [],
      spf: { domain: spf ?? null, result: spf ? 'pass' : 'none', isAligned: false },
    };
    const found = nameService({ results: [{ seen, messages: count }], name: dns });
    const by = kind in EVIDENCE ? EVIDENCE[kind as keyof typeof EVIDENCE] : undefined;
    expect([kind, domain, found?.by, found?.name]).toEqual([
      ...[kind, domain, by, by && services.get(domain)?.name],
    ]);
    messages.all += count;
    if (by !== undefined) messages[by] += count;
  }
  const share = (by: 'dkim' | 'spf' | 'dns') => Math.round((100 * messages[by]) / messages.all);
  expect({ dkim: share('dkim'), spf: share('spf'), dns: share('dns') }).toEqual({
    ...{ dkim: 16, spf: 14, dns: 14 },
  });
});

/** Each report once, with its sources. */
async function* readSamples() {
  const read = new Set<string>();
  for (const sample of SAMPLES) {
    if (sample.expect === 'reject' || read.has(sample.payload_sha256)) continue;
    read.add(sample.payload_sha256);
    for (const document of await readAll(openSample(sample)))
      if (document.kind === 'report' && !isTls(document.report)) yield document.report;
  }
}

test.skipIf(SAMPLES.length === 0)(
  'a source in the sample reports is named by a signature exactly when a service signed its mail',
  async () => {
    const services = parseServices(readFileSync(TSV, 'utf8'));
    const toOrganizationalDomain = await loadOrganizationalDomains();
    for await (const { policyPublished, content } of readSamples()) {
      const domain = policyPublished.domain ?? '';
      const nameService = createNamer({ domain, services, toOrganizationalDomain });
      const { records } = unpackContent(content);
      const sums: SourceSums = new Map();
      addReport(sums, { reporter: null, records });
      for (const { address, patterns } of keepLargest(sums)) {
        const results = [...patterns].map(([text, messages]) => ({
          messages,
          seen: parsePattern(text),
        }));
        const signers = records
          .filter(({ sourceIp, count }) => sourceIp === address && count > 0)
          .flatMap(({ authResults }) => authResults.dkim)
          .filter(({ result }) => result === 'pass')
          .map((signed) => toOrganizationalDomain(signed.domain ?? ''))
          .filter((signer) => services.has(signer) && signer !== toOrganizationalDomain(domain));
        const found = nameService({ results, name: undefined });
        const named = found?.by === 'dkim' ? [found.domain] : [];
        expect(signers, address).toEqual(expect.arrayContaining(named));
        expect(named.length > 0, address).toBe(signers.length > 0);
      }
    }
  },
);
