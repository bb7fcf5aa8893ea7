import { expect, test } from 'vitest';
import { toDemoConfig } from '../../src/commands/demo.ts';
import { readConfig } from '../../src/config/config.ts';

test.each([
  ['/tmp/demo/demo.db', { path: '/tmp/demo/demo.db.key', isMade: true }],
  ['postgres://db.example.com/demo', undefined],
])('a demo on %s does not use the key of the configured installation', (database, keyFile) => {
  const config = readConfig({ PLUMBLINE_SECRETS_KEY_FILE: '/etc/plumbline/secrets-key' });
  expect(toDemoConfig(config, database).secretsKeyFile).toEqual(keyFile);
});
