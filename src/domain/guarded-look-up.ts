import type { LookupFunction } from 'node:net';
import { findAddressFailure, type JudgeAddress } from './webhooks/address.ts';

/** Rejects when nobody answers, with the reason. */
export type LookUpAddresses = (name: string) => Promise<readonly string[]>;

/** Judges every address of a name each time when it connects: a name can have another one at any time. */
export function createGuardedLookUp(
  url: URL,
  judge: JudgeAddress,
  lookUp: LookUpAddresses,
): LookupFunction {
  const find = async (name: string) => {
    const addresses = await lookUp(name);
    const refusal = addresses
      .map((address) => findAddressFailure(url, address, judge))
      .find(Boolean);
    if (refusal !== undefined) throw refusal;
    if (addresses.length === 0) throw new Error(`${name} has no address.`);
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return (name, { all }, callback) => {
    find(name).then(
      (found) => {
        if (all) callback(null, found);
        else callback(null, found[0]?.address ?? '', found[0]?.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };
}
