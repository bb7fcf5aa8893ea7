import { expect, onTestFinished, test, vi } from 'vitest';
import type { TestModule } from 'vitest/node';
import ClosingLine from './support/closing-line.ts';

/** The last lines of a run whose tests have these results. */
function lastLines(results: readonly object[]): string {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  const tests = results.map((result) => ({ result: () => result }));
  const module = { children: { allTests: () => tests }, state: () => 'passed', errors: () => [] };
  new ClosingLine().onTestRunEnd([module as unknown as TestModule], []);
  return write.mock.calls.join('');
}

test('a test that is skipped with a reason, as the corpus when it is absent, gives a warning', () => {
  const absent = { state: 'skipped', note: 'The sample reports are absent.' };
  expect(lastLines([{ state: 'passed' }, absent])).toBe(
    '\nWARNING: The sample reports are absent.\n\n1 passed, 0 failed, 1 skipped\n',
  );
});

test('a run without skipped tests has no warning', () => {
  expect(lastLines([{ state: 'passed' }, { state: 'failed' }])).toBe('\n1 passed, 1 failed\n');
});
