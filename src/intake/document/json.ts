import { Refusal } from '../../domain/reports/refusal.ts';
import type { Budget } from '../budget.ts';
import { MAX_DEPTH } from '../limits.ts';
import { advance, renderLocation } from '../warnings.ts';

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

const BLANKS = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const WORDS = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in a text (RFC 8259, section 7).
const CONTROL = /[\u0000-\u001f]/;

interface Options {
  readonly budget: Budget;
  /** The members whose numbers are read as their digits: ids are larger than a number can be. */
  readonly digits: string;
}

/**
 * Reads the value at the beginning of a text, and where it ends. `JSON.parse` says neither that nor where a text is broken,
 * and has no limits. Of a name that occurs twice the last value counts, as there. Throws `bad_json` and `too_large`.
 */
export function readJson(text: string, options: Options): { value: Json; end: number } {
  const reader = new JsonReader(text, options);
  return { value: reader.read(0), end: reader.at };
}

class JsonReader {
  readonly #text: string;
  readonly #options: Options;
  at = 0;

  constructor(text: string, options: Options) {
    this.#text = text;
    this.#options = options;
  }

  read(depth: number, name?: string): Json {
    this.#options.budget.spend('token');
    if (depth > MAX_DEPTH)
      throw this.#refuse('too_large', `It is nested more than ${MAX_DEPTH} deep`);
    this.#take(BLANKS);
    const first = this.#text[this.at];
    if (first === '{') return this.#readObject(depth);
    if (first === '[') return this.#readList(depth);
    if (first === '"') return this.#readText();
    const word = this.#take(WORD);
    if (word !== '') return WORDS.get(word) as Json;
    const digits = this.#take(NUMBER);
    if (digits === '') throw this.#refuse('bad_json', 'It is no JSON');
    return name === this.#options.digits ? digits : Number(digits);
  }

  #readObject(depth: number): Json {
    this.#options.budget.spend('object');
    const object: Record<string, Json> = {};
    this.#readEach('}', () => {
      this.#options.budget.spend('token');
      if (this.#text[this.at] !== '"') throw this.#refuse('bad_json', 'A name is missing');
      const name = this.#readText();
      this.#expect(':');
      const value = this.read(depth + 1, name);
      // As a name it is none of ours, and setting it would set another thing.
      if (name !== '__proto__') object[name] = value;
    });
    return object;
  }

  #readList(depth: number): Json {
    const list: Json[] = [];
    this.#readEach(']', () => list.push(this.read(depth + 1)));
    return list;
  }

  #readEach(close: '}' | ']', readOne: () => void): void {
    this.at += 1;
    this.#take(BLANKS);
    if (this.#text[this.at] !== close)
      for (;;) {
        this.#take(BLANKS);
        readOne();
        this.#take(BLANKS);
        if (this.#text[this.at] !== ',') break;
        this.at += 1;
      }
    this.#expect(close);
  }

  #readText(): string {
    const begin = this.at + 1;
    let end = this.#text.indexOf('"', begin);
    while (end >= 0 && this.#isEscaped(end, begin)) end = this.#text.indexOf('"', end + 1);
    if (end < 0) throw this.#refuse('bad_json', 'A text does not end');
    const inner = this.#text.slice(begin, end);
    if (CONTROL.test(inner)) throw this.#refuse('bad_json', 'A text has a control character');
    this.at = end + 1;
    if (!inner.includes('\\')) return inner;
    try {
      return JSON.parse(`"${inner}"`);
    } catch {
      this.at = begin - 1;
      throw this.#refuse('bad_json', 'A text has an unknown escape');
    }
  }

  #isEscaped(at: number, begin: number): boolean {
    let slashes = 0;
    while (at - slashes > begin && this.#text[at - slashes - 1] === '\\') slashes += 1;
    return slashes % 2 === 1;
  }

  #expect(sign: string): void {
    this.#take(BLANKS);
    if (this.#text[this.at] !== sign) throw this.#refuse('bad_json', `There is no “${sign}”`);
    this.at += 1;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [taken = ''] = pattern.exec(this.#text) ?? [];
    this.at += taken.length;
    return taken;
  }

  #refuse(reason: 'bad_json' | 'too_large', message: string): Refusal {
    const where = advance({ line: 1, column: 0 }, this.#text.slice(0, this.at));
    return new Refusal(reason, `${message}.`, renderLocation(where));
  }
}
