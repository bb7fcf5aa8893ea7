/** How everything is measured and printed: contenders take turns, and the least of their rounds counts. */

/** What a round cost, by what was measured, with its unit. */
export type Cost = Readonly<Record<string, number>>;

export interface Contender {
  readonly name: string;
  readonly round: () => Promise<Cost>;
}

/** Other work of the machine can only add to what a round costs. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 6);

export async function compare(what: string, contenders: readonly Contender[]): Promise<void> {
  const least = contenders.map((): Cost => ({}));
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, contender] of contenders.entries())
      least[i] = toLeast(least[i] ?? {}, await contender.round());
  const names = contenders.map(({ name }) => name);
  printCosts(what, names, least);
}

function toLeast(one: Cost, other: Cost): Cost {
  const values = Object.entries(other).map(([what, value]) => [
    what,
    Math.min(value, one[what] ?? value),
  ]);
  return Object.fromEntries(values);
}

/** Prints what each costs, and how many times what the first one of them costs. What costs nothing is left out. */
export function printCosts(what: string, names: readonly string[], costs: readonly Cost[]): void {
  print(`\n${what}`);
  for (const unit of new Set(costs.flatMap((cost) => Object.keys(cost)))) {
    const values = costs.map((cost) => cost[unit] ?? 0);
    const base = values.find((value) => value > 0) ?? 0;
    const cells = values.flatMap((value, i) =>
      value > 0 ? [`${names[i]} ${toText(value)}${toTimes(value, base)}`] : [],
    );
    if (cells.length > 0) print(`  ${unit.padEnd(28)} ${cells.join('   ')}`);
  }
}

function toTimes(value: number, base: number): string {
  return value === base ? '' : ` (${(value / base).toFixed(2)} ×)`;
}

function toText(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
