import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { localParser } from '../../src/intake/parser/parser.ts';
import { createMailVerifier } from '../../src/jobs/inbox.ts';

const verifierOf = (env: NodeJS.ProcessEnv) => createMailVerifier(readConfig(env), localParser);

test('mails are verified, unless the configuration says that no DNS is asked', () => {
  expect(verifierOf({})).toBeTypeOf('function');
  expect(verifierOf({ PLUMBLINE_MAIL_VERIFICATION: 'off' })).toBeUndefined();
});
