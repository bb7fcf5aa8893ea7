import type { Request, Response } from 'express';
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
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { statusOf } from '../errors.ts';
import { sendPage } from '../frame/page.ts';
import { baseUrlOf, idOf, readField } from '../request.ts';
import { actorOf, redirectWithNotice, visitorOf } from '../visitor.ts';
import { PEOPLE_PATH, type RefusedInvitation, renderPeople } from './people-view.ts';

/** The people of the account, for its owners. */
export const showPeople: PageHandler = async (deps, req, res) => {
  await sendPeople(deps, req, res);
};

/** Adds a person and shows their link in the answer itself: Plumbline sends no mail, and stores only its hash. */
export const invite: PageHandler = async (deps, req, res) => {
  const email = readField(req, 'email');
  const by = actorOf(req, res, deps);
  const person = { accountId: by.accountId, email, now: by.at };
  try {
    const { email: invited, token } = await invitePerson(deps.store.db, person, by);
    await sendPeople(deps, req, res, { link: { email: invited, token } });
  } catch (error) {
    if (!(error instanceof Failure) || !REFUSALS.has(error.code)) throw error;
    await sendPeople(deps, req, res, { refused: { failure: hideOwner(error), email } });
  }
};

const REFUSALS: ReadonlySet<string> = new Set(['validation_error', 'conflict', 'limit_reached']);

/** An owner must not learn which addresses other accounts have. Their own people are on the page. */
function hideOwner(failure: Failure): Failure {
  if (failure.code !== 'conflict') return failure;
  const message =
    'This address cannot be invited: somebody has it already. The operator of this Plumbline can help.';
  return new Failure('conflict', message);
}

/** Shows a new link for a person who has not chosen a password yet. */
export const renewLink: PageHandler = async (deps, req, res) => {
  const by = actorOf(req, res, deps);
  const token = await insertOneTimeLink(deps.store.db, idOf(req), by.at, by);
  const { email } = await findPerson(deps.store.db, idOf(req));
  await sendPeople(deps, req, res, { link: { email, token } });
};

/** Frees the address of a person who has neither a password nor single sign-on. */
export const withdraw: PageHandler = async (deps, req, res) => {
  const { email } = await deletePerson(deps.store.db, idOf(req), actorOf(req, res, deps));
  const notice = `The invitation of ${email} is withdrawn.`;
  await redirectWithNotice(deps, res, { path: PEOPLE_PATH, notice });
};

export const enablePerson: PageHandler = async (deps, req, res) => {
  const { email } = await updateDisabled(deps.store.db, idOf(req), false, actorOf(req, res, deps));
  const notice = `${email} can sign in again.`;
  await redirectWithNotice(deps, res, { path: PEOPLE_PATH, notice });
};

export const disablePerson: PageHandler = async (deps, req, res) => {
  const { email } = await updateDisabled(deps.store.db, idOf(req), true, actorOf(req, res, deps));
  const notice = `${email} is disabled, and signed out everywhere.`;
  await redirectWithNotice(deps, res, { path: PEOPLE_PATH, notice });
};

/** Who ends their own sessions is signed out: the next page asks them to sign in. */
export const signOutPerson: PageHandler = async (deps, req, res) => {
  const { email } = await endSessionsOf(deps.store.db, idOf(req), actorOf(req, res, deps));
  const notice = `${email} is signed out everywhere.`;
  await redirectWithNotice(deps, res, { path: PEOPLE_PATH, notice });
};

/** Says whether everybody who signs in with a password needs a second factor. */
export const requireFactor: PageHandler = async (deps, req, res) => {
  const by = actorOf(req, res, deps);
  const isRequired = readField(req, 'required') === 'yes';
  await updateSecondFactorRequired(deps.store.db, by.accountId, isRequired, by);
  const notice = isRequired ? 'A second factor is required.' : 'A second factor is optional.';
  await redirectWithNotice(deps, res, { path: PEOPLE_PATH, notice });
};

interface Shown {
  readonly link?: { readonly email: string; readonly token: string };
  readonly refused?: RefusedInvitation;
}

async function sendPeople(
  deps: SettingsDeps,
  req: Request,
  res: Response,
  { link, refused }: Shown = {},
): Promise<void> {
  const visitor = visitorOf(res);
  const { db } = deps.store;
  const now = deps.now();
  const toUrl = (token: string) => `${baseUrlOf(deps, req)}/settings/welcome?link=${token}`;
  const main = renderPeople({
    visitor,
    people: await listPeopleOverview(db, visitor.accountId, toInstant(now)),
    isRequired: await isSecondFactorRequired(db, visitor.accountId),
    link: link && { email: link.email, url: toUrl(link.token) },
    refused,
    now,
  });
  const status = refused === undefined ? 200 : statusOf(refused.failure);
  await sendPage(res, { title: 'People', current: 'people', status, main });
}
