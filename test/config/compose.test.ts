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
    });
  },
);
