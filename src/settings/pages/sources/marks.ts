import type { Request } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../../domain/failure.ts';
import { nameMarkSubject, parseMarkSubject } from '../../../domain/sources/mark-subject.ts';
import type { Mark } from '../../../domain/sources/source.ts';
import { type SourceMark, updateMark } from '../../../store/days/marks.ts';
import type { PageHandler } from '../../deps.ts';
import { renderFormToken, renderHiddenFields } from '../../frame/forms.ts';
import { type Html, renderText, renderTime } from '../../frame/text.ts';
import { idOf, readField } from '../../request.ts';
import { toOwnPage } from '../../sign-in/own-page.ts';
import { actorOf, redirectWithNotice, type Visitor } from '../../visitor.ts';
import { toSourcePath } from './source-labels.ts';

const MARKS = {
  legitimate: { button: 'Yes: legitimate', notice: 'is marked as legitimate.' },
  unknown: { button: 'No: unknown', notice: 'is marked as unknown.' },
  none: { button: 'Take the mark away', notice: 'has no mark any more.' },
} as const satisfies Record<Mark | 'none', { readonly button: string; readonly notice: string }>;

const MARK_CHOICES = Object.keys(MARKS) as (keyof typeof MARKS)[];

interface Marked {
  readonly domainId: string;
  /** An address, or the key of a sender (domain/sources/mark-subject.ts). */
  readonly subject: string;
  readonly mark: SourceMark | undefined;
  /** The path and query of the page that shows it, one of the domain's. */
  readonly page: string;
}

/** Each page that shows a mark has buttons for the other two, so that one click takes back what another did. */
export function renderMarks(
  visitor: Visitor,
  { domainId, subject, mark, page }: Marked,
  now: Date,
): Html {
  const choices = MARK_CHOICES.filter((choice) => choice !== (mark?.mark ?? 'none'));
  return html`<section class="card" aria-labelledby="mark">
    <h2 id="mark">Do you know this sender?</h2>
    <p>${mark === undefined ? NOT_MARKED : html`${renderText(mark.markedBy, MAX_NAME)} marked it as <strong>${mark.mark}</strong> ${renderTime(mark.markedAt, now)}.`}</p>
    <form method="post" action="${toSourcePath(domainId)}/mark" class="choices start">
      ${renderFormToken(visitor)}${renderHiddenFields({ subject, return: page })}
      ${choices.map((choice) => html`<button name="mark" value="${choice}" class="secondary">${MARKS[choice].button}</button>`)}
    </form>
  </section>`;
}

const MAX_NAME = 254;
const NOT_MARKED =
  'Nobody has marked it yet. A mark says to everybody of your account whose mail this is, also that of addresses which join the sender later. It decides the verdict above and counts for a stronger policy; it changes no alert.';

export const markSource: PageHandler = async (deps, req, res) => {
  const subject = parseMarkSubject(readField(req, 'subject'));
  if (subject === undefined) throw new Failure('validation_error', 'There is no such source.');
  const choice = MARK_CHOICES.find((one) => one === readField(req, 'mark'));
  if (choice === undefined) throw new Failure('validation_error', 'There is no such mark.');
  const domainId = idOf(req);
  const mark = choice === 'none' ? null : choice;
  await updateMark(deps.store.db, { domainId, subject, mark }, actorOf(res, deps));
  const notice = `${nameMarkSubject(subject)} ${MARKS[choice].notice}`;
  await redirectWithNotice(deps, res, { path: toPageOfForm(req, domainId), notice });
};

/** The domain's page that has the form, with the form's range: its values are checked where the page reads them. */
function toPageOfForm(req: Request, domainId: string): string {
  const [path = '', query] = toOwnPage(readField(req, 'return')).split('?');
  if (!`${path}/`.startsWith(`/settings/domains/${domainId}/`)) return toSourcePath(domainId);
  const chosen = new URLSearchParams(query);
  for (const name of ['days', 'from', 'to'])
    if (readField(req, name) !== '') chosen.set(name, readField(req, name));
  return chosen.size === 0 ? path : `${path}?${chosen}`;
}
