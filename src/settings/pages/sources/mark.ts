import type { RequestHandler } from 'express';
import { Failure } from '../../../domain/failure.ts';
import type { Mark } from '../../../domain/sources/advice.ts';
import { updateMark } from '../../../store/sources/marks.ts';
import { readField } from '../../form.ts';
import type { Given } from '../../given.ts';
import { actorOf, leaveNotice, visitorOf } from '../../visitor.ts';
import { readAddress } from './source.ts';
import { toPath } from './source-words.ts';

/** What a form can say of a source, and the notice of the next page. */
const CHOICES = {
  legitimate: 'is marked as legitimate.',
  unknown: 'is marked as unknown.',
  none: 'has no mark any more.',
} as const satisfies Record<Mark | 'none', string>;

/** Marks a source for everybody of the account. */
export function markSource(given: Given): RequestHandler {
  return async (req, res) => {
    const address = readAddress(req);
    const choice = readField(req, 'mark');
    if (!isChoice(choice)) throw new Failure('validation_error', 'There is no such mark.');
    const domainId = String(req.params['id']);
    const by = { ...actorOf(req, res, given), accountId: visitorOf(res).accountId };
    const mark = choice === 'none' ? null : choice;
    await updateMark(given.store.db, { domainId, address, mark }, by);
    await leaveNotice(given, res, `${address} ${CHOICES[choice]}`);
    res.redirect(303, toPath(domainId, address));
  };
}

function isChoice(text: string): text is keyof typeof CHOICES {
  return Object.hasOwn(CHOICES, text);
}
