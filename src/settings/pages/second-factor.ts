import type { Request, RequestHandler, Response } from 'express';
import { isPassword } from '../../domain/access/password.ts';
import {
  createRecoveryCode,
  hashRecoveryCode,
  RECOVERY_CODES,
} from '../../domain/access/recovery-code.ts';
import type { Sealing } from '../../domain/access/sealing.ts';
import { createTotpSecret, readTotpCode, toTotpUri } from '../../domain/access/totp.ts';
import { Failure } from '../../domain/failure.ts';
import { findCredentials } from '../../store/people/people.ts';
import {
  type CodeProof,
  confirmSecondFactor,
  deleteSecondFactor,
  findSecondFactor,
  hasSecondFactors,
  renewRecoveryCodes,
  startSecondFactor,
} from '../../store/people/second-factors.ts';
import { readField } from '../form.ts';
import { sendPage } from '../frame/page.ts';
import { renderQr } from '../frame/qr.ts';
import type { Given } from '../given.ts';
import { findCodeProof, findTotpProof, unsealSecret } from '../sign-in/code-proof.ts';
import { leaveCodeUncounted } from '../throttle.ts';
import { actorOf, leaveNotice, visitorOf } from '../visitor.ts';
import {
  type FactorState,
  type Problem,
  renderNewCodes,
  renderSecondFactor,
} from './second-factor-view.ts';

const PATH = '/settings/second-factor';
const PLACE = { title: 'Second factor', place: 'security' } as const;

export function showSecondFactor(given: Given): RequestHandler {
  return async (_req, res) => await sendSecondFactor(given, res);
}

/** Makes a secret. It is in use only after a code of it was entered. */
export function startSetUp(given: Given): RequestHandler {
  return async (_req, res) => {
    const { personId } = visitorOf(res);
    const { seal } = await openForSecret(given);
    await startSecondFactor(given.store.db, personId, seal(await createTotpSecret(), personId));
    res.redirect(303, PATH);
  };
}

/** The key is read again: nothing may be encrypted with one whose file is lost. */
async function openForSecret({ store, openSealing }: Given): Promise<Sealing> {
  if (openSealing === undefined) throw new Failure('forbidden', 'None can be set up here.');
  const mayMake = async () => !(await hasSecondFactors(store.db));
  return await openSealing({ isFresh: true, mayMake }).catch((cause: unknown) => {
    const message =
      'A second factor cannot be set up at the moment. The operator of this service finds the reason in its log.';
    throw new Failure('unavailable', message, { cause });
  });
}

/**
 * Turns the second factor on, with the password and a code. The recovery codes are in this answer only: their hashes
 * are stored.
 */
export function confirmSetUp(given: Given): RequestHandler {
  return async (req, res) => {
    const { personId, id: sessionId } = visitorOf(res);
    const { db } = given.store;
    const factor = await findSecondFactor(db, personId);
    if (factor === undefined || factor.confirmedAt !== null) return res.redirect(303, PATH);
    const passwordHash = await findPasswordHash(given, req, res);
    if (passwordHash === undefined) return await sendSecondFactor(given, res, WRONG_PASSWORD);
    const code = readTotpCode(readField(req, 'code'));
    const proof = code && (await findTotpProof(given, { personId, factor, code }));
    if (!proof) return await sendSecondFactor(given, res, WRONG_CODE);
    const codes = createCodes();
    const wanted = { passwordHash, proof, sessionId, recoveryHashes: codes.map(toHash) };
    await confirmSecondFactor(db, wanted, actorOf(req, res, given));
    await sendNewCodes(res, codes);
  };
}

export function renewCodes(given: Given): RequestHandler {
  return async (req, res) => {
    const proofs = await readProofs(given, req, res);
    if ('field' in proofs) return await sendSecondFactor(given, res, proofs);
    const codes = createCodes();
    const wanted = { ...proofs, recoveryHashes: codes.map(toHash) };
    const renewed = renewRecoveryCodes(given.store.db, wanted, actorOf(req, res, given));
    const refused = await renewed.catch(orWrongCode);
    if (refused !== undefined) return await sendSecondFactor(given, res, refused);
    await sendNewCodes(res, codes);
  };
}

export function turnOff(given: Given): RequestHandler {
  return async (req, res) => {
    const proofs = await readProofs(given, req, res);
    if ('field' in proofs) return await sendSecondFactor(given, res, proofs);
    const removed = deleteSecondFactor(given.store.db, proofs, actorOf(req, res, given));
    const refused = await removed.catch(orWrongCode);
    if (refused !== undefined) return await sendSecondFactor(given, res, refused);
    await leaveNotice(given, res, 'Your second factor is off.');
    res.redirect(303, PATH);
  };
}

interface Proofs {
  readonly passwordHash: string;
  readonly code: CodeProof;
}

const WRONG_PASSWORD: Problem = { field: 'password', message: 'This is not your password.' };
const WRONG_CODE: Problem = { field: 'code', message: 'This code is wrong, or was used already.' };

/** The password and the code of the form, or what the form then says. */
async function readProofs(given: Given, req: Request, res: Response): Promise<Proofs | Problem> {
  const passwordHash = await findPasswordHash(given, req, res);
  if (passwordHash === undefined) {
    leaveCodeUncounted(res);
    return WRONG_PASSWORD;
  }
  const code = await findCodeProof(given, visitorOf(res).personId, readField(req, 'code'));
  return code === undefined ? WRONG_CODE : { passwordHash, code };
}

/** The hash of the password in the form; undefined when it is not the person's. */
async function findPasswordHash(
  { store }: Given,
  req: Request,
  res: Response,
): Promise<string | undefined> {
  const known = await findCredentials(store.db, visitorOf(res).email);
  const passwordHash = known?.passwordHash ?? null;
  const isRight = await isPassword(readField(req, 'password'), passwordHash);
  return isRight && passwordHash !== null ? passwordHash : undefined;
}

/** A recovery code is compared when it is used up. */
function orWrongCode(error: unknown): Problem {
  if (error instanceof Failure && error.code === 'unauthorized') return WRONG_CODE;
  throw error;
}

function createCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, createRecoveryCode);
}

const toHash = (code: string) => hashRecoveryCode(code) as string;

async function sendNewCodes(res: Response, codes: readonly string[]): Promise<void> {
  await sendPage(res, { ...PLACE, title: 'Recovery codes', main: renderNewCodes(codes) });
}

async function sendSecondFactor(given: Given, res: Response, problem?: Problem): Promise<void> {
  const visitor = visitorOf(res);
  const state = await findState(given, visitor, res.req);
  const main = renderSecondFactor({ visitor, state, problem, now: given.now() });
  await sendPage(res, { ...PLACE, status: problem === undefined ? 200 : 422, main });
}

async function findState(
  given: Given,
  { personId, email }: { readonly personId: string; readonly email: string },
  req: { readonly id: string },
): Promise<FactorState> {
  const { db } = given.store;
  const factor = await findSecondFactor(db, personId);
  if (factor?.confirmedAt != null)
    return { kind: 'on', since: factor.confirmedAt, recoveryCodes: factor.recoveryCodes };
  const credentials = await findCredentials(db, email);
  if (credentials?.passwordHash == null) return { kind: 'no-password' };
  if (given.openSealing === undefined) return { kind: 'unavailable' };
  if (factor === undefined) return { kind: 'off' };
  try {
    const secret = await unsealSecret(given, personId, factor.sealedSecret);
    const qr = await renderQr(await toTotpUri(secret, email), 'QR code for your authenticator app');
    return { kind: 'waiting', secret, qr };
  } catch (error) {
    // The key of the secret that waits is gone: the person begins again with a new secret.
    given.logError(error, req);
    return { kind: 'off' };
  }
}
