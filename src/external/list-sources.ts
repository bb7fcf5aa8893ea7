import { Failure } from '../domain/failure.ts';
import { addDays, type DayRange, daysBetween, isDay, toDay, toInstant } from '../domain/instant.ts';
import type { Network } from '../domain/sources/network.ts';
import type { SourceSum } from '../store/sources/days.ts';
import { findSourcesState, readSources, type SourcesState } from '../store/sources/list.ts';
import { hashVersion } from './computed-version.ts';
import type { Handler } from './operation.ts';

export const listSources = (({ accountId, path, query }, { now, findNetwork, keepSums }) => {
  const { from, until, order, ...page } = query;
  const { domain_id: domainId } = path;
  const scope = { accountId, domainId };
  const range = toRange(from, until ?? toDay(toInstant(now())));
  const toVersion = ({ version, marks }: SourcesState) =>
    hashVersion([version, range, order, [...marks].map(([address, { mark }]) => [address, mark])]);
  return {
    list: {
      missing: 'No such domain.',
      findVersion: async (reader) => {
        const state = await findSourcesState(reader, scope);
        return state && toVersion(state);
      },
      readPage: async (reader, page) => {
        const wanted = { range, order, failingOnly: false, ...page };
        const found = await readSources(reader, scope, wanted);
        keepSums({ domainId, months: found.unsummed });
        return {
          version: toVersion(found),
          items: found.sources.map((source) => ({
            ...toItem(source),
            mark: found.marks.get(source.address)?.mark ?? null,
            network: findNetwork?.(source.address) ?? NO_NETWORK,
          })),
          total: found.total,
          others: { unlisted_messages: found.unlisted },
        };
      },
    },
    page,
  };
}) satisfies Handler<'listSources'>;

const DAYS = 30;
const MAX_DAYS = 366;

function toRange(from: string | undefined, to: string): DayRange {
  if (!isDay(to)) throw toInvalid('"until" must be a day from 1970-01-01 on.');
  const range = { from: from ?? addDays(to, 1 - DAYS), to };
  const days = daysBetween(range.from, to) + 1;
  if (days >= 1 && days <= MAX_DAYS) return range;
  throw toInvalid(`"from" to "until" must be 1 to ${MAX_DAYS} days, both included.`);
}

const toInvalid = (message: string) => new Failure('validation_error', message);

function toItem(source: SourceSum) {
  const { address, messages, aligned, dkimAligned, spfAligned, firstDay, lastDay } = source;
  return {
    source_ip: address,
    ...{ total_messages: messages, aligned_messages: aligned },
    ...{ dkim_aligned_messages: dkimAligned, spf_aligned_messages: spfAligned },
    ...{ first_day: firstDay, last_day: lastDay },
  };
}

const NO_NETWORK: Network = { asn: null, organisation: null, country: null };
