import type { TlsDay } from '../domain/tls/tls-day.ts';
import { planTlsDays } from '../store/days/tls-days.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { Counted, ScopedQuery } from './summed-range.ts';

/** What believed TLS reports say of a range, newest day first. The account has the domain. */
export async function readTlsDays(
  reader: Reader,
  { scope: { domainId }, range }: ScopedQuery,
): Promise<Counted & { readonly days: readonly TlsDay[] }> {
  return { days: await reader.readPlan(() => planTlsDays({ domainId, ...range }), { domainId }) };
}
