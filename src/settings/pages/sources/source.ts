import type { Request, RequestHandler } from 'express';
import { toAlignmentModes } from '../../../domain/dns/dns-record.ts';
import { loadOrganizationalDomains } from '../../../domain/dns/organizational-domain.ts';
import { Failure } from '../../../domain/failure.ts';
import { parseIpAddress } from '../../../domain/ip-address.ts';
import { type Advice, advise } from '../../../domain/sources/advice.ts';
import type { Reported } from '../../../domain/sources/breakdown.ts';
import { toBreakdown } from '../../../domain/sources/breakdown.ts';
import type { DomainRow } from '../../../store/accounts/domains.ts';
import { findDomain } from '../../../store/accounts/overview.ts';
import { listDnsRecords, toDnsFacts } from '../../../store/alerts/dns-records.ts';
import { findDetailedDays } from '../../../store/sources/detailed-days.ts';
import { readMarks, type SourceMark } from '../../../store/sources/marks.ts';
import { findNames } from '../../../store/sources/names.ts';
import { readSource, readSpan, type SourcePattern } from '../../../store/sources/source.ts';
import { sendPage } from '../../frame/page.ts';
import { toDomainRange } from '../../frame/range.ts';
import { toDomainText } from '../../frame/words.ts';
import type { Given } from '../../given.ts';
import { visitorOf } from '../../visitor.ts';
import { renderSource } from './source-view.ts';

/** One address: what it sent in a domain's name in the chosen range, who reported it, and what to do about it. */
export function showSource(given: Given): RequestHandler {
  const { reader } = given.store;
  return async (req, res) => {
    const visitor = visitorOf(res);
    const address = readAddress(req);
    const scope = { accountId: visitor.accountId, domainId: String(req.params['id']) };
    const domain = await findDomain(reader, scope);
    const dataDays = await findDetailedDays(reader, scope);
    const range = toDomainRange(req, dataDays, given.now());
    const { days, patterns, otherMessages } = await readSource(reader, scope, { address, range });
    const reported = patterns.map(toReported);
    const mark = (await readMarks(reader, domain.id)).get(address);
    const name = (await findNames(reader, domain.id, [address])).get(address);
    const main = renderSource({
      ...{ domain, address, range, days, mark, visitor, otherMessages },
      known: { name, network: given.findNetwork?.(address) },
      span: await readSpan(reader, { domainId: domain.id, address }),
      detailsSince: dataDays.detailsSince,
      breakdown: toBreakdown(reported),
      advice: await toAdvice(given, { domain, reported, mark }),
      now: given.now(),
    });
    const title = `${address} · ${toDomainText(domain.name)}`;
    await sendPage(res, { title, place: 'overview', main });
  };
}

/** The address in a path, in its canonical text. Throws `not_found` when it is none. */
export function readAddress(req: Request): string {
  const address = parseIpAddress(String(req.params['address']));
  if (address === undefined) throw new Failure('not_found', 'There is no such address.');
  return address;
}

function toReported(pattern: SourcePattern): Reported {
  const { spf, dkim, reporter, disposition, messages, aligned } = pattern;
  return {
    headerFrom: pattern.header_from,
    spf: { domain: spf.domain, result: spf.result, isAligned: spf.aligned },
    isDkimAligned: pattern.dkim_aligned,
    ...{ dkim, reporter, disposition, messages, aligned },
  };
}

interface Judged {
  readonly domain: DomainRow;
  readonly reported: readonly Reported[];
  readonly mark: SourceMark | undefined;
}

/** By the domain's DMARC record, where the worker knows it. */
async function toAdvice(
  { store }: Given,
  { domain, reported, mark }: Judged,
): Promise<readonly Advice[]> {
  const records = await store.reader.readAll(listDnsRecords({ domainId: domain.id }));
  const record = toDnsFacts(records).dmarc?.confirmed?.value ?? null;
  return advise(reported, {
    domain: domain.name,
    modes: toAlignmentModes(record),
    // Two names below `github.io` are not of one organisation.
    toOrganizationalDomain: await loadOrganizationalDomains({ allowPrivateDomains: true }),
    mark: mark?.mark ?? null,
  });
}
