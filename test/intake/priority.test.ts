import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const PRIORITY = new URL('../../src/intake/parser/priority.ts', import.meta.url).href;
const PRINT = `import { getPriority } from 'node:os';
  import { lowerPriority } from '${PRIORITY}';
  lowerPriority();
  console.log(getPriority());`;

// As root, raising the priority would succeed. For other users it is an error, which ended the ingest.
test.each([
  [0, 10],
  [19, 19],
])('a process that was started with nice %i reads with nice %i', (given, kept) => {
  const node = [process.execPath, '--no-warnings', '--input-type=module', '-e', PRINT];
  expect(Number(execFileSync('nice', ['-n', `${given}`, ...node]))).toBe(kept);
});
