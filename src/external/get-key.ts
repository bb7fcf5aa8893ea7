import { keyOfAccount } from '../store/accounts/api-keys.ts';
import type { Reader } from '../store/engine/reader.ts';
import { hashVersion } from './computed-version.ts';
import type { Handler } from './operation.ts';

export const getKey = (({ keyId }, { about }) => {
  const read = async (reader: Reader) => {
    const [key] = await reader.readAll(keyOfAccount({ keyId }));
    if (key === undefined) return undefined;
    // A key of an account on another plan is not accepted.
    const { account, plan, ...own } = key;
    const body = { data: { ...own, account: { name: account, plan: plan as 'pro' }, ...about() } };
    return { version: hashVersion([body]), body };
  };
  return {
    missing: 'No such key.',
    findVersion: async (reader) => (await read(reader))?.version,
    read,
  };
}) satisfies Handler<'getKey'>;
