import type { OpenSealing } from '../../domain/access/sealing.ts';
import { findTotpStep, hashRecoveryCode, readTotpCode } from '../../domain/access/second-factor.ts';
import { Failure } from '../../domain/failure.ts';
import { findSecondFactor, type SecondFactor } from '../../store/people/second-factors.ts';
import type { SettingsDeps } from '../deps.ts';

/** undefined for a wrong code. Whether a recovery code is one of theirs shows when it is used up. */
export async function findCodeProof(deps: SettingsDeps, personId: string, text: string) {
  const code = readTotpCode(text);
  if (code === undefined) {
    const recoverySha256 = hashRecoveryCode(text);
    return recoverySha256 === undefined ? undefined : { recoverySha256 };
  }
  const factor = await findSecondFactor(deps.store.db, personId);
  if (factor === undefined || factor.confirmedAt === null) return undefined;
  return await findTotpProof(deps, { personId, factor, code });
}

/** undefined when the code is wrong or was used already. */
export async function findTotpProof(
  deps: SettingsDeps,
  { personId, factor, code }: { personId: string; factor: SecondFactor; code: string },
) {
  const { sealedSecret, lastStep } = factor;
  const secret = await unsealSecret(deps, personId, sealedSecret);
  const step = await findTotpStep(secret, code, { now: deps.now(), lastStep });
  return step === undefined ? undefined : { sealedSecret, step };
}

/** Throws `unavailable` when the key that the secret was encrypted with is not there. */
export async function unsealSecret(
  { openSealing }: SettingsDeps,
  personId: string,
  sealedSecret: string,
): Promise<string> {
  try {
    if (openSealing === undefined) throw new Error('PLUMBLINE_SECRETS_KEY_FILE is not set.');
    return await unsealWith(openSealing, personId, sealedSecret);
  } catch (error) {
    const message =
      'Codes of authenticator apps cannot be checked at the moment. A recovery code works, and the operator can reset your second factor.';
    throw new Failure('unavailable', message, { cause: error });
  }
}

/** A key that does not fit is read once more: another process may have made it, or the operator restored it. */
async function unsealWith(openSealing: OpenSealing, personId: string, sealedSecret: string) {
  const { unseal } = await openSealing();
  try {
    return unseal(sealedSecret, personId);
  } catch {
    return (await openSealing({ isFresh: true })).unseal(sealedSecret, personId);
  }
}
