import type { Request, RequestHandler, Response } from 'express';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { invitePerson } from '../../store/people/new-people.ts';
import { insertOneTimeLink } from '../../store/people/one-time-links.ts';
import { findPerson } from '../../store/people/people.ts';
import {
  isSecondFactorRequired,
  listPeopleOverview,
  updateSecondFactorRequired,
} from '../../store/people/people-overview.ts';
import { deletePerson, endSessionsOf, updateDisabled } from '../../store/people/person-changes.ts';
import { statusOf } from '../errors.ts';
import { readField } from '../form.ts';
import { sendPage } from '../frame/page.ts';
import type { Given } from '../given.ts';
import { actorOf, leaveNotice, visitorOf } from '../visitor.ts';
import { type MadeLink, type RefusedInvitation, renderPeople } from './people-view.ts';

const PATH = '/settings/people';

/** The people of the account, for its owners. */
export function showPeople(given: Given): RequestHandler {
  return async (req, res) => await sendPeople(given, req, res);
}

/** Adds a person and shows their link in the answer itself: Plumbline sends no mail, and stores only its hash. */
export function invite(given: Given): RequestHandler {
  return async (req, res) => {
    const email = readField(req, 'email');
    const by = actorOf(req, res, given);
    const person = { accountId: by.accountId, email, now: by.at };
    try {
      const { email: invited, token } = await invitePerson(given.store.db, person, by);
      await sendPeople(given, req, res, { link: { email: invited, token } });
    } catch (error) {
      if (!(error instanceof Failure) || !REFUSALS.has(error.code)) throw error;
      await sendPeople(given, req, res, { refused: { failure: toOwnWords(error), email } });
    }
  };
}

const REFUSALS: ReadonlySet<string> = new Set(['validation_error', 'conflict', 'limit_reached']);

/** An owner must not learn which addresses other accounts have. Their own people are on the page. */
function toOwnWords(failure: Failure): Failure {
  if (failure.code !== 'conflict') return failure;
  const message =
    'This address cannot be invited: somebody has it already. The operator of this Plumbline can help.';
  return new Failure('conflict', message);
}

/** A new link for a person who has not chosen a password yet. */
export function renewLink(given: Given): RequestHandler {
  return async (req, res) => {
    const by = actorOf(req, res, given);
    const token = await insertOneTimeLink(given.store.db, toId(req), by.at, by);
    const { email } = await findPerson(given.store.db, toId(req));
    await sendPeople(given, req, res, { link: { email, token } });
  };
}

/** Frees the address of a person who has neither a password nor single sign-on. */
export function withdraw(given: Given): RequestHandler {
  return async (req, res) => {
    const by = actorOf(req, res, given);
    const { email } = await deletePerson(given.store.db, toId(req), by);
    await goBack(given, res, `The invitation of ${email} is withdrawn.`);
  };
}

export function switchPerson(given: Given, isDisabled: boolean): RequestHandler {
  return async (req, res) => {
    const by = actorOf(req, res, given);
    const { email } = await updateDisabled(given.store.db, toId(req), isDisabled, by);
    const notice = isDisabled
      ? `${email} is disabled, and signed out everywhere.`
      : `${email} can sign in again.`;
    await goBack(given, res, notice);
  };
}

export function signOutPerson(given: Given): RequestHandler {
  return async (req, res) => {
    const by = actorOf(req, res, given);
    const { email } = await endSessionsOf(given.store.db, toId(req), by);
    await goBack(given, res, `${email} is signed out everywhere.`);
  };
}

/** Says whether everybody who signs in with a password needs a second factor. */
export function requireFactor(given: Given): RequestHandler {
  return async (req, res) => {
    const by = actorOf(req, res, given);
    const isRequired = readField(req, 'required') === 'yes';
    await updateSecondFactorRequired(given.store.db, by.accountId, isRequired, by);
    const notice = isRequired ? 'A second factor is required.' : 'A second factor is optional.';
    await goBack(given, res, notice);
  };
}

interface Shown {
  readonly link?: Omit<MadeLink, 'url'> & { readonly token: string };
  readonly refused?: RefusedInvitation;
}

async function sendPeople(
  { store: { db }, baseUrl, now }: Given,
  req: Request,
  res: Response,
  { link, refused }: Shown = {},
): Promise<void> {
  const visitor = visitorOf(res);
  const origin = baseUrl ?? `${req.protocol}://${req.host}`;
  const main = renderPeople({
    visitor,
    people: await listPeopleOverview(db, visitor.accountId, toInstant(now())),
    isRequired: await isSecondFactorRequired(db, visitor.accountId),
    link: link && { email: link.email, url: `${origin}/settings/welcome?link=${link.token}` },
    refused,
    now: now(),
  });
  const status = refused === undefined ? 200 : statusOf(refused.failure);
  await sendPage(res, { title: 'People', place: 'people', status, main });
}

async function goBack(given: Given, res: Response, notice: string): Promise<void> {
  await leaveNotice(given, res, notice);
  // Who ends their own sessions is signed out: the next page says so by asking to sign in.
  res.redirect(303, PATH);
}

function toId(req: Request): string {
  return String(req.params['id']);
}
