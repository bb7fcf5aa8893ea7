import { closest, distance } from 'fastest-levenshtein';
import { ConfigError, type Variable } from './variable.ts';

const PREFIX = 'PLUMBLINE_';
/** PLUMBLINE_CONFIG is read before the others; the samples of the docs export the other one for a client. */
const OTHER_NAMES = ['PLUMBLINE_CONFIG', 'PLUMBLINE_API_KEY'];
/** A name that differs in more characters, or in more than half of them, is not a typing mistake. */
const MAX_DISTANCE = 4;

type Variables = Readonly<Record<string, Variable<unknown>>>;
export type ValuesOf<V extends Variables> = {
  readonly [Key in keyof V]: V[Key] extends Variable<infer T> ? T : never;
};

/** Reads variables, and collects all problems, so that a person sees them at once. */
export class Environment {
  readonly #env: NodeJS.ProcessEnv;
  readonly #names: string[] = [];
  readonly #problems: string[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** An empty variable counts as one that is not set. */
  read<V extends Variables>(variables: V): ValuesOf<V> {
    const values = Object.entries(variables).map(([key, { name, parse, rule, fallback }]) => {
      this.#names.push(name);
      const text = this.#env[name] || undefined;
      const value = text === undefined ? fallback : parse(text);
      this.refuse(text !== undefined && value === undefined, `${name}: ${rule}`);
      // So that rules about several variables can go on.
      return [key, value ?? fallback];
    });
    return Object.fromEntries(values) as ValuesOf<V>;
  }

  /** Notes a problem, such as two variables that contradict each other, when it is there. */
  refuse(isThere: boolean, problem: string): void {
    if (isThere) this.#problems.push(problem);
  }

  /** Notes as a problem each of these variables that has no value: they are required with another one. */
  require(values: Readonly<Record<string, unknown>>, other: string): void {
    for (const [name, value] of Object.entries(values))
      this.refuse(!value, `${name}: is required with ${other}`);
  }

  /** Throws a ConfigError when anything is wrong. To be called when all variables have been read. */
  check(): void {
    const problems = [...this.#problems, ...this.#listUnknown()].map((problem) => `  ${problem}`);
    if (problems.length > 0)
      throw new ConfigError(`The configuration is not right:\n${problems.join('\n')}`);
  }

  #listUnknown(): string[] {
    const names = [...this.#names, ...OTHER_NAMES];
    const unknown = Object.keys(this.#env).filter(
      (name) => name.startsWith(PREFIX) && this.#env[name] !== '' && !names.includes(name),
    );
    return unknown.map((name) => {
      const nearest = findNearest(name, this.#names);
      return `${name}: there is no such variable${nearest === undefined ? '' : `. Is it ${nearest}?`}`;
    });
  }
}

function findNearest(name: string, known: readonly string[]): string | undefined {
  const nearest = closest(name, known);
  const allowed = Math.min(MAX_DISTANCE, (name.length - PREFIX.length) / 2);
  return distance(name, nearest) <= allowed ? nearest : undefined;
}
