import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config.ts';

const { services } = parse(readFileSync('docs/operate/container/compose.yaml', 'utf8'), {
  merge: true,
});

test.each(['serve', 'work'])(
  'the container %s of compose.yaml has a configuration that is right',
  (name) => {
    const { environment, image } = services[name];
    expect(image).toBe('plumbline');
    expect(readConfig(environment)).toMatchObject({
      database: expect.stringMatching(/^postgres:\/\/plumbline@database:/),
      redis: { host: 'counters', port: 6379 },
      secretsKeyFile: { path: '/run/secrets/secrets-key', isMade: false },
    });
    // The file of each secret is in the container, as the user that owns it there.
    const files = [environment['PLUMBLINE_DATABASE_PASSWORD_FILE']];
    files.push(environment['PLUMBLINE_SECRETS_KEY_FILE']);
    expect(services[name].secrets.map((secret: string) => `/run/secrets/${secret}`)).toEqual(files);
  },
);
