import { type AuditEntry, findSearchEnd, listAudit } from '../../store/events/audit.ts';
import type { PageHandler } from '../deps.ts';
import { MAX_ROWS, sendCsv } from '../frame/csv.ts';
import { labelOf } from '../frame/text.ts';
import { visitorOf } from '../visitor.ts';
import { ACTORS, readForm, toFilter, VERBS } from './audit.ts';

const HEADS = ['Time (UTC)', 'By', 'What', 'Subject', 'Detail', 'From'];
const PER_PART = 500;

/** What the page with the same filter shows, all pages of it. */
export const exportAudit: PageHandler = async ({ store: { db } }, req, res) => {
  const { accountId } = visitorOf(res);
  const filter = toFilter(readForm(req));
  const end = await findSearchEnd(db, accountId, { depth: MAX_ROWS + 1 });
  const count = end === undefined || end.at < (filter.from ?? '') ? 0 : MAX_ROWS + 1;
  const rows = async function* () {
    let before: number | undefined;
    do {
      const part = await listAudit(db, accountId, { ...filter, limit: PER_PART, before });
      yield* part.map(toRow);
      before = part.length < PER_PART ? undefined : part.at(-1)?.seq;
    } while (before !== undefined);
  };
  await sendCsv(res, { fileName: 'audit', heads: HEADS, count, rows: rows() });
};

function toRow({ at, actor, action, subject, detail, address }: AuditEntry) {
  return [at, labelOf(ACTORS, actor), VERBS[action], subject, detail, address];
}
