import type { Request } from 'express';
import { toAlignmentModes } from '../../../domain/dns/dns-record.ts';
import { loadOrganizationalDomains } from '../../../domain/dns/organizational-domain.ts';
import { Failure } from '../../../domain/failure.ts';
import { parseIpAddress } from '../../../domain/ip-address.ts';
import { type Advice, advise } from '../../../domain/sources/advice.ts';
import type { Reported } from '../../../domain/sources/breakdown.ts';
import { toBreakdown } from '../../../domain/sources/breakdown.ts';
import type { Mark } from '../../../domain/sources/source.ts';
import { findDataDays } from '../../../store/accounts/domain-reports.ts';
import type { DomainRow } from '../../../store/accounts/domains.ts';
import { findDomain } from '../../../store/accounts/overview.ts';
import { listDnsRecords, toDnsFacts } from '../../../store/alerts/dns-records.ts';
import { readMarks, type SourceMark, updateMark } from '../../../store/sources/marks.ts';
import { findNames } from '../../../store/sources/names.ts';
import { readSource, readSpan, type SourcePattern } from '../../../store/sources/source.ts';
import type { PageHandler, SettingsDeps } from '../../deps.ts';
import { sendPage } from '../../frame/page.ts';
import { readRange } from '../../frame/range.ts';
import { formatDomainName } from '../../frame/text.ts';
import { idOf, readField } from '../../request.ts';
import { actorOf, domainScopeOf, redirectWithNotice, visitorOf } from '../../visitor.ts';
import { toSourcePath } from './source-labels.ts';
import { renderSource } from './source-view.ts';

/** One address: what it sent in a domain's name in the chosen range, who reported it, and what to do about it. */
export const showSource: PageHandler = async (deps, req, res) => {
  const { reader } = deps.store;
  const visitor = visitorOf(res);
  const address = readAddress(req);
  const scope = domainScopeOf(req, res);
  const domain = await findDomain(reader, scope);
  const dataDays = await findDataDays(reader, scope);
  const range = readRange(req, dataDays, deps.now());
  const { days, patterns, otherMessages } = await readSource(reader, scope, { address, range });
  const reported = patterns.map(toReported);
  const mark = (await readMarks(reader, domain.id)).get(address);
  const name = (await findNames(reader, domain.id, [address])).get(address);
  const main = renderSource({
    ...{ domain, address, range, days, mark, visitor, otherMessages },
    known: { name, network: deps.findNetwork?.(address) },
    span: await readSpan(reader, { domainId: domain.id, address }),
    breakdown: toBreakdown(reported),
    advice: await findAdvice(deps, { domain, reported, mark }),
    now: deps.now(),
  });
  const title = `${address} · ${formatDomainName(domain.name)}`;
  await sendPage(res, { title, current: 'overview', main });
};

/** What a form can say of a source, and the notice of the next page. */
const MARK_NOTICES = {
  legitimate: 'is marked as legitimate.',
  unknown: 'is marked as unknown.',
  none: 'has no mark any more.',
} as const satisfies Record<Mark | 'none', string>;

/** Marks a source for everybody of the account. */
export const markSource: PageHandler = async (deps, req, res) => {
  const address = readAddress(req);
  const choice = readField(req, 'mark');
  if (!isMarkChoice(choice)) throw new Failure('validation_error', 'There is no such mark.');
  const domainId = idOf(req);
  const mark = choice === 'none' ? null : choice;
  await updateMark(deps.store.db, { domainId, address, mark }, actorOf(req, res, deps));
  const notice = `${address} ${MARK_NOTICES[choice]}`;
  await redirectWithNotice(deps, res, { path: toSourcePath(domainId, address), notice });
};

function isMarkChoice(text: string): text is keyof typeof MARK_NOTICES {
  return Object.hasOwn(MARK_NOTICES, text);
}

/** The address in a path, in its canonical text. Throws `not_found` when it is none. */
function readAddress(req: Request): string {
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

interface Evidence {
  readonly domain: DomainRow;
  readonly reported: readonly Reported[];
  readonly mark: SourceMark | undefined;
}

/** By the domain's DMARC record, where the worker knows it. */
async function findAdvice(
  { store }: SettingsDeps,
  { domain, reported, mark }: Evidence,
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
