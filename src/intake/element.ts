import { Refusal } from '../domain/refusal.ts';
import { MAX_LIST_LENGTH, MAX_VALUE_CHARS, MAX_XML_TEXT_CHARS } from './ceilings.ts';
import { LEAF, type Shape } from './shape.ts';
import type { Place, WarningCode, WarningLog } from './warnings.ts';

const NONE: readonly Element[] = [];

/**
 * An element that was kept, with its text and its children by local name. Asking for a child or
 * value that is not there is no error: reporters leave out everything.
 */
export class Element implements Place {
  readonly name: string;
  readonly shape: Shape;
  readonly line: number;
  readonly column: number;
  readonly isAbsent: boolean;
  readonly #log: WarningLog;
  /** None for a leaf, and four elements in five are leaves. */
  #children: Map<string, Element[]> | undefined;
  #text = '';

  constructor(name: string, { shape, place, log, isAbsent = false }: ElementOptions) {
    this.name = name;
    this.shape = shape;
    this.line = place.line;
    this.column = place.column;
    this.isAbsent = isAbsent;
    this.#log = log;
  }

  addText(text: string): void {
    this.#text += text;
    if (this.#text.length > MAX_XML_TEXT_CHARS)
      throw new Refusal('too_large', `The text of <${this.name}> is too long.`);
  }

  /** Takes a child in: of a repeated one the first, of a list as many as the ceiling allows. */
  addChild(child: Element): void {
    this.#children ??= new Map();
    const siblings = this.#children.get(child.name);
    if (siblings === undefined) this.#children.set(child.name, [child]);
    else if (!child.shape.isList) child.warn('repeated_element');
    else if (siblings.length < MAX_LIST_LENGTH) siblings.push(child);
    else child.warn('long_list');
  }

  /** Every child of a name. */
  all(name: string): readonly Element[] {
    return this.#children?.get(name) ?? NONE;
  }

  /** The one child of a name, an absent one if need be. */
  child(name: string): Element {
    const [first] = this.all(name);
    return first ?? new Element(name, { shape: LEAF, place: this, log: this.#log, isAbsent: true });
  }

  /** A child's text without the blanks around it, null when there is none. */
  value(name: string): string | null {
    return this.#children?.get(name)?.[0]?.ownValue() ?? null;
  }

  ownValue(): string | null {
    const text = this.#text.trim();
    if (text.length <= MAX_VALUE_CHARS) return text === '' ? null : text;
    this.warn('long_value');
    return text.slice(0, MAX_VALUE_CHARS);
  }

  /** A child's text as a keyword: RFC words are lower case, reporters' (`Pass`, `None`) are not. */
  word(name: string): string | null {
    return this.value(name)?.toLowerCase() ?? null;
  }

  warn(code: WarningCode): void {
    this.#log.add(code, this);
  }
}

interface ElementOptions {
  readonly shape: Shape;
  readonly place: Place;
  readonly log: WarningLog;
  readonly isAbsent?: boolean;
}
