import type { Request } from 'express';
import { type AuditKind, isAuditKind } from '../../domain/access/audit-actions.ts';
import { addDays, type Day, isDay } from '../../domain/instant.ts';
import { type AuditFilter, findSearchEnd, listAudit } from '../../store/accounts/audit.ts';
import { listPeople } from '../../store/people/people.ts';
import type { PageHandler } from '../deps.ts';
import { sendPage } from '../frame/page.ts';
import { readQuery } from '../request.ts';
import { visitorOf } from '../visitor.ts';
import { type AuditForm, renderAudit } from './audit-view.ts';

const PER_PAGE = 50;
/** The longest e-mail address. */
const MAX_ACTOR_LENGTH = 254;

/** What was done in the account: when, by whom, and from where; latest first. */
export const showAudit: PageHandler = async ({ store: { db } }, req, res) => {
  const { accountId } = visitorOf(res);
  const form = readForm(req);
  const before = readBefore(req);
  const filter = toFilter(form);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const end = isFiltered ? await findSearchEnd(db, accountId, before) : undefined;
  const limit = PER_PAGE + 1;
  const entries = await listAudit(db, accountId, { ...filter, limit, before, since: end?.seq });
  const people = await listPeople(db, accountId);
  const main = renderAudit({
    entries: entries.slice(0, PER_PAGE),
    hasOlder: entries.length > PER_PAGE,
    // Entries before the first day of the filter need not be searched.
    searchedTo: end !== undefined && end.at >= (filter.from ?? '') ? end.seq : undefined,
    isFirst: readQuery(req, 'before') === '',
    form,
    actors: people.map(({ email }) => email),
  });
  await sendPage(res, { title: 'Audit', current: 'audit', main });
};

function readBefore(req: Request): number | undefined {
  const before = readQuery(req, 'before');
  return /^\d{1,15}$/.test(before) ? Number(before) : undefined;
}

/** A value that is none of the form's is left out, so that a link with it shows more, not less. */
function readForm(req: Request): AuditForm {
  const kind = readQuery(req, 'kind');
  return {
    kind: isAuditKind(kind) ? kind : '',
    actor: readQuery(req, 'actor').slice(0, MAX_ACTOR_LENGTH),
    from: readDay(req, 'from'),
    until: readDay(req, 'until'),
  };
}

function readDay(req: Request, name: string): Day | '' {
  const text = readQuery(req, name);
  return isDay(text) && text < '9999' ? text : '';
}

/** Days are of UTC, and the last one counts too. */
function toFilter({ kind, actor, from, until }: AuditForm): AuditFilter {
  return {
    kind: kind === '' ? undefined : (kind satisfies AuditKind),
    actor: actor === '' ? undefined : actor,
    from: from === '' ? undefined : `${from}T00:00:00Z`,
    until: until === '' ? undefined : `${addDays(until, 1)}T00:00:00Z`,
  };
}
