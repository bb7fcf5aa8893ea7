import pino from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { warnOfSharing } from '../../src/http/shared-port.ts';

test.each([
  ['alone', {}, 1],
  ['in Redis', { PLUMBLINE_REDIS: 'redis://127.0.0.1:6379' }, 0],
])(
  'a server that shares its port and counts limits %s: it logs that it counts alone, or not',
  (_where, env, times) => {
    const lines: string[] = [];
    const log = pino({}, { write: (line) => void lines.push(JSON.parse(line).msg) });
    warnOfSharing(readConfig(env), log);
    expect(lines.filter((line) => line.startsWith('limits are counted'))).toHaveLength(times);
  },
);
