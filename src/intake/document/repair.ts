import type { WarningCode } from '../../domain/reports/warning-texts.ts';
import { advance, type WarningLog, type XmlLocation } from '../warnings.ts';

const BLANK_BEFORE = /^\s+(?=<\?xml\s)/;
const DECLARATION = /^\s*<\?xml\s[^>]*\?>/;
/** A schema tag among blanks, comments and instructions, before the first other tag. */
const SCHEMA_TAG =
  /^((?:\s|<!--(?:(?!-->)[\s\S])*-->|<\?(?:(?!\?>)[\s\S])*\?>)*)(<(?:[\w.-]+:)?schema\b[^>]*>(?:\s*<\/(?:[\w.-]+:)?schema\s*>)?)/;

/**
 * Neutralises what comes before the report: the declaration (its encoding was used when the text was decoded) and a
 * stray schema tag become blanks of the same size, so that places in the text stay those of the reporter's file.
 */
export function repairProlog(text: string, log: WarningLog): string {
  if (BLANK_BEFORE.test(text)) log.add('blank_before_declaration');
  const undeclared = text.replace(DECLARATION, toBlanks);
  if (!undeclared.includes('schema')) return undeclared;
  return undeclared.replace(SCHEMA_TAG, (_, before: string, tag: string) => {
    log.add('stray_schema_tag');
    return before + toBlanks(tag);
  });
}

const toBlanks = (text: string): string =>
  text.replace(/[^\r\n]+/g, (line) => ' '.repeat(line.length));

/** XML 1.0, 2.2: characters that are not a Char. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters.
export const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;
const REPLACEMENT = '\uFFFD';
const MARKUP =
  /<!\[CDATA\[|\]\]>|<!--|-->|&(?:#(\d{1,7}|x[\da-f]{1,6});|(?:amp|lt|gt|quot|apos);)?/gi;
/** The start of a CDATA section or a comment, with its end. */
const OPAQUE: Readonly<Record<string, string>> = { '<![CDATA[': ']]>', '<!--': '-->' };
/** The beginning of one of these at the end of a piece, which the next piece may complete. */
const UNFINISHED = /(?:&[#\w]{0,8}|<(?:!(?:\[\w{0,5}|-)?)?|\]\]?|--?)$/;
const UNFINISHED_CHARS = 9;

/** Replaces forbidden characters by U+FFFD, and bare ampersands outside CDATA sections and comments by `&amp;`. */
export class TextRepair {
  readonly #log: WarningLog;
  readonly #here: () => XmlLocation;
  /** Entities, comments, CDATA sections and replaced characters so far. */
  tokens = 0;
  #held = '';
  /** The end of the CDATA section or comment that the text is in. */
  #terminator: string | null = null;

  /** `here` returns the location of the next text. */
  constructor(log: WarningLog, here: () => XmlLocation) {
    this.#log = log;
    this.#here = here;
  }

  write(piece: string): string {
    const text = this.#held + piece;
    const tail = text.slice(-UNFINISHED_CHARS);
    this.#held = UNFINISHED.exec(tail)?.[0] ?? '';
    // Matching a whole string is twice as fast as matching a slice, and few pieces end unfinished.
    return this.#repair(this.#held === '' ? text : text.slice(0, -this.#held.length));
  }

  end(): string {
    return this.#repair(this.#held);
  }

  #repair(text: string): string {
    const allowed = text.replace(FORBIDDEN, (_, at: number) => {
      this.tokens += 1;
      this.#warn('forbidden_characters', { text, at });
      return REPLACEMENT;
    });
    // Most texts have none of these, and searching for a fixed string is many times faster.
    const isPlain = !allowed.includes('&') && !allowed.includes('<!');
    if (isPlain && this.#terminator === null) return allowed;
    return allowed.replace(MARKUP, (found: string, code: string | undefined, at: number) =>
      this.#repairMarkup(found, code, { text: allowed, at }),
    );
  }

  /** `code` is the text between `&#` and `;` of a character reference. */
  #repairMarkup(found: string, code: string | undefined, at: Found): string {
    this.tokens += 1;
    if (this.#terminator !== null) {
      if (found === this.#terminator) this.#terminator = null;
      return found;
    }
    this.#terminator = OPAQUE[found] ?? null;
    if (found === '&') {
      this.#warn('bare_ampersand', at);
      return '&amp;';
    }
    if (code === undefined || isAllowed(code)) return found;
    this.#warn('forbidden_characters', at);
    return REPLACEMENT;
  }

  #warn(code: WarningCode, { text, at }: Found): void {
    this.#log.add(code, () => advance(this.#here(), text.slice(0, at)));
  }
}

interface Found {
  readonly text: string;
  readonly at: number;
}

/** Whether a character reference (`38`, `x26`) names a character that XML allows. */
function isAllowed(code: string): boolean {
  const point = /^x/i.test(code) ? Number.parseInt(code.slice(1), 16) : Number(code);
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
  return String.fromCodePoint(point).search(FORBIDDEN) < 0;
}
