import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createMailVerifier } from '../../src/jobs/inbox.ts';

const verifierOf = (env: NodeJS.ProcessEnv) => createMailVerifier(readConfig(env));

test('mails are verified, unless the configuration says that no DNS is asked', () => {
  expect(verifierOf({})).toBeTypeOf('function');
  expect(verifierOf({ PLUMBLINE_MAIL_VERIFICATION: 'off' })).toBeUndefined();
});
