import { expect, test } from 'vitest';
import { toFirstSteps } from '../../src/commands/serve.ts';

test.each([
  [
    'a checkout',
    'file:///opt/plumbline/src/commands/serve.ts',
    'npm run plumbline --',
    'npm run demo',
  ],
  ['a package', 'file:///usr/lib/plumbline/dist/commands/serve.js', 'plumbline', 'plumbline demo'],
])('the first steps in %s are commands that work there', (_where, module, plumbline, demo) => {
  const lines = toFirstSteps('/tmp/a.db', module).split('\n');
  const commands = lines.flatMap(
    (line) => /^ {2}(.*?) (?:account|domain|key|ingest) /.exec(line)?.[1] ?? [],
  );
  expect(commands).toEqual([plumbline, plumbline, plumbline, plumbline]);
  expect(lines).toContain(`Or stop this, and look around with made-up data: ${demo}`);
});
