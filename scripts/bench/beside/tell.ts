import { print } from '../print.ts';
import { type Latencies, percentile } from './poll.ts';

/** How many times the idle p99 it may be. */
const MAX_TIMES = 3;

/** Prints how long a page and a 304 took, beside the idle server's. */
export function tell(
  when: string,
  latencies: readonly Latencies[],
  idle: readonly Latencies[],
): void {
  print(`  ${when}`);
  for (const [i, name] of ['page', '304'].entries()) {
    const [measured, base] = [latencies[i] as Latencies, idle[i] as Latencies];
    const [p50, p99] = [percentile(measured, 0.5), percentile(measured, 0.99)];
    const times = p99 / percentile(base, 0.99);
    const goal =
      measured === base ? '' : `, ${times.toFixed(1)} × idle (goal: at most ${MAX_TIMES} ×)`;
    print(
      `    ${name.padEnd(5)} p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}${goal}; ${measured.length} requests`,
    );
  }
}
