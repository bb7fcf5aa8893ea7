import type { Reporter, TestModule } from 'vitest/node';

/** Prints a last line in the format that readers of test logs expect: `N passed, N failed`. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    // A file that cannot be loaded has no tests; it counts as one failed test.
    const broken = modules.filter(
      (module) => module.state() === 'failed' && module.errors().length,
    );
    const failed = count('failed') + broken.length + errors.length;
    const skipped = count('skipped');
    const tail = skipped > 0 ? `, ${skipped} skipped` : '';
    process.stdout.write(`\n${count('passed')} passed, ${failed} failed${tail}\n`);
  }
}
