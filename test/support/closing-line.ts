import type { Reporter, TestModule } from 'vitest/node';

/**
 * Prints a last line in the format that readers of test logs expect: `N passed, N failed`. Before it, a warning
 * for each test that was skipped with a reason.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const results = modules
      .flatMap((module) => [...module.children.allTests()])
      .map((test) => test.result());
    const count = (state: string) => results.filter((result) => result.state === state).length;
    // A file that cannot be loaded has no tests; it counts as one failed test.
    const broken = modules.filter(
      (module) => module.state() === 'failed' && module.errors().length,
    );
    const failed = count('failed') + broken.length + errors.length;
    const skipped = count('skipped');
    const tail = skipped > 0 ? `, ${skipped} skipped` : '';
    const warnings = results
      .map((result) => (result.state === 'skipped' ? result.note : undefined))
      .filter((note) => note !== undefined)
      .map((note) => `\nWARNING: ${note}\n`);
    process.stdout.write(
      `${warnings.join('')}\n${count('passed')} passed, ${failed} failed${tail}\n`,
    );
  }
}
