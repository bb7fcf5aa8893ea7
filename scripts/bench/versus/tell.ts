import { print } from '../print.ts';

/** Prints what something costs before and after, in µs, and their ratio. */
export function tell(name: string, [before = Number.NaN, after = Number.NaN]: readonly number[]) {
  const toMicros = (micros: number) => micros.toFixed(0).padStart(9);
  print(
    `  ${name.padEnd(48)} ${toMicros(before)} µs ${toMicros(after)} µs ${(after / before).toFixed(2).padStart(6)} ×`,
  );
}
