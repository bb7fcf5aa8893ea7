import type { Response } from 'express';
import type { Sealing } from '../../domain/access/sealing.ts';
import {
  createRecoveryCode,
  createTotpSecret,
  hashRecoveryCode,
  RECOVERY_CODES,
  readTotpCode,
  toTotpUri,
} from '../../domain/access/second-factor.ts';
import { Failure } from '../../domain/failure.ts';
import { openToSeal } from '../../store/accounts/sealed-secrets.ts';
import { findCredentials } from '../../store/people/people.ts';
import {
  confirmSecondFactor,
  deleteSecondFactor,
  findSecondFactor,
  renewRecoveryCodes,
  startSecondFactor,
} from '../../store/people/second-factors.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { sendPage } from '../frame/page.ts';
import { leaveCodeUncounted } from '../limits.ts';
import { readField } from '../request.ts';
import { findCodeProof, findTotpProof, unsealSecret } from '../sign-in/code-proof.ts';
import { findByPassword } from '../sign-in/password.ts';
import { actorOf, redirectWithNotice, visitorOf } from '../visitor.ts';
import {
  FACTOR_PATH,
  type FactorProblem,
  renderCalm,
  renderNewCodes,
  renderOff,
  renderOn,
  renderSecondFactor,
  renderSetUp,
} from './second-factor-view.ts';

export const showSecondFactor: PageHandler = (deps, _req, res) => sendSecondFactor(deps, res);

/** The secret is in use only after a code of it was entered. */
export const startSetUp: PageHandler = async (deps, _req, res) => {
  const { personId } = visitorOf(res);
  const words = { none: 'None can be set up here.', failed: 'A second factor cannot be set up' };
  const { seal } = await openForSecret(deps, words);
  await startSecondFactor(deps.store.db, personId, seal(await createTotpSecret(), personId));
  res.redirect(303, FACTOR_PATH);
};

/** Throws with `none` when there is no key, and with `failed` when it cannot be used. */
export async function openForSecret(
  { store, openSealing }: SettingsDeps,
  { none, failed }: { readonly none: string; readonly failed: string },
): Promise<Sealing> {
  if (openSealing === undefined) throw new Failure('forbidden', none);
  return await openToSeal(store.db, openSealing).catch((cause: unknown) => {
    const message = `${failed} at the moment. The operator of this service finds the reason in its log.`;
    throw new Failure('unavailable', message, { cause });
  });
}

/** Needs the password and a code. Only this answer has the recovery codes: their hashes are stored. */
export const confirmSetUp: PageHandler = async (deps, req, res) => {
  const { personId, id: sessionId } = visitorOf(res);
  const { db } = deps.store;
  const factor = await findSecondFactor(db, personId);
  if (factor === undefined || factor.confirmedAt !== null) return res.redirect(303, FACTOR_PATH);
  const passwordHash = await readPasswordHash(deps, res);
  if (passwordHash === undefined) return await sendSecondFactor(deps, res, WRONG_PASSWORD);
  const code = readTotpCode(readField(req, 'code'));
  const proof = code && (await findTotpProof(deps, { personId, factor, code }));
  if (!proof) return await sendSecondFactor(deps, res, WRONG_CODE);
  const codes = createCodes();
  const factorProof = { passwordHash, proof, sessionId, recoveryHashes: codes.map(toHash) };
  await confirmSecondFactor(db, factorProof, actorOf(res, deps));
  await sendNewCodes(res, codes);
};

export const renewCodes: PageHandler = async (deps, _req, res) => {
  const proofs = await readProofs(deps, res);
  if ('field' in proofs) return await sendSecondFactor(deps, res, proofs);
  const codes = createCodes();
  const renewal = { ...proofs, recoveryHashes: codes.map(toHash) };
  const renewed = renewRecoveryCodes(deps.store.db, renewal, actorOf(res, deps));
  const refused = await renewed.catch(toWrongCode);
  if (refused !== undefined) return await sendSecondFactor(deps, res, refused);
  await sendNewCodes(res, codes);
};

export const turnOff: PageHandler = async (deps, _req, res) => {
  const proofs = await readProofs(deps, res);
  if ('field' in proofs) return await sendSecondFactor(deps, res, proofs);
  const removed = deleteSecondFactor(deps.store.db, proofs, actorOf(res, deps));
  const refused = await removed.catch(toWrongCode);
  if (refused !== undefined) return await sendSecondFactor(deps, res, refused);
  const notice = 'Your second factor is off.';
  await redirectWithNotice(deps, res, { path: FACTOR_PATH, notice });
};

const WRONG_PASSWORD: FactorProblem = { field: 'password', message: 'This is not your password.' };
const WRONG_CODE: FactorProblem = {
  field: 'code',
  message: 'This code is wrong, or was used already.',
};

async function readProofs(deps: SettingsDeps, res: Response) {
  const passwordHash = await readPasswordHash(deps, res);
  if (passwordHash === undefined) {
    leaveCodeUncounted(res);
    return WRONG_PASSWORD;
  }
  const code = await findCodeProof(deps, visitorOf(res).personId, readField(res.req, 'code'));
  return code === undefined ? WRONG_CODE : { passwordHash, code };
}

/** undefined when it is not the person's password. */
async function readPasswordHash(deps: SettingsDeps, res: Response) {
  const person = await findByPassword(deps, visitorOf(res).email, readField(res.req, 'password'));
  return person?.passwordHash;
}

/** A recovery code is only checked when it is used up. */
function toWrongCode(error: unknown): FactorProblem {
  if (error instanceof Failure && error.code === 'unauthorized') return WRONG_CODE;
  throw error;
}

function createCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, createRecoveryCode);
}

const toHash = (code: string) => hashRecoveryCode(code) as Uint8Array;

async function sendNewCodes(res: Response, codes: readonly string[]): Promise<void> {
  const main = renderNewCodes(codes);
  await sendPage(res, { title: 'Recovery codes', current: 'security', main });
}

async function sendSecondFactor(deps: SettingsDeps, res: Response, problem?: FactorProblem) {
  const main = renderSecondFactor(visitorOf(res), await renderState(deps, res, problem));
  const status = problem === undefined ? 200 : 422;
  await sendPage(res, { title: 'Second factor', current: 'security', status, main });
}

async function renderState(deps: SettingsDeps, res: Response, problem?: FactorProblem) {
  const { db } = deps.store;
  const visitor = visitorOf(res);
  const { personId, email } = visitor;
  const factor = await findSecondFactor(db, personId);
  if (factor?.confirmedAt != null) {
    const { confirmedAt: since, recoveryCodes } = factor;
    return renderOn(visitor, { since, recoveryCodes, now: deps.now() }, problem);
  }
  const credentials = await findCredentials(db, email);
  if (credentials?.passwordHash == null) return renderCalm(AT_PROVIDER);
  if (deps.openSealing === undefined) return renderCalm(NO_KEY);
  if (factor === undefined) return renderOff(visitor);
  try {
    const secret = await unsealSecret(deps, personId, factor.sealedSecret);
    return await renderSetUp(visitor, { secret, uri: await toTotpUri(secret, email) }, problem);
  } catch (error) {
    // The key of the pending secret is gone: the person begins again with a new secret.
    deps.logError(error, res.req);
    return renderOff(visitor);
  }
}

const AT_PROVIDER = 'You sign in with single sign-on, and its provider asks for further factors.';
const NO_KEY =
  'This installation has no key to encrypt secrets with. Its operator can set PLUMBLINE_SECRETS_KEY_FILE.';
