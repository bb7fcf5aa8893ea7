import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  loadOrganizationalDomains,
  loadOwnerDomains,
} from '../../../src/domain/dns/organizational-domain.ts';
import { judgeSenders } from '../../../src/domain/sources/judge-senders.ts';
import { createNamer } from '../../../src/domain/sources/service-name.ts';
import { parseServices } from '../../../src/domain/sources/services.ts';
import { readTable, type TableDomain } from './verdicts-table.ts';

const TSV = new URL('../../../src/store/days/services/services.tsv', import.meta.url);
const services = parseServices(readFileSync(TSV, 'utf8'));
const toOwnerDomain = await loadOwnerDomains();
const toOrganizationalDomain = await loadOrganizationalDomains();
const TABLE = readTable(toOwnerDomain);

function judgeDomain({ domain, modes, marks, wanted }: TableDomain) {
  const nameService = createNamer({ domain, services, toOrganizationalDomain });
  return judgeSenders(
    wanted.flatMap(({ mail }) => mail),
    {
      ...{ domain, modes, nameService, findMark: (subject) => marks.get(subject) },
      toOrganizationalDomain: toOwnerDomain,
    },
  );
}

describe.each(TABLE)('$title', (one) => {
  const judged = judgeDomain(one);

  test.each(one.wanted)('$line', ({ mail, verdict }) => {
    const verdicts = mail.map(({ address }) => judged.of(address)?.verdict);
    expect([...new Set(verdicts)]).toEqual([verdict]);
  });
});
