import { Refusal, type RefusalReason } from '../../domain/reports/refusal.ts';
import type { WarningCode } from '../../domain/reports/warning-texts.ts';
import { MAX_LIST_LENGTH } from '../limits.ts';
import { renderLocation, type WarningLog, type XmlLocation } from '../warnings.ts';
import { copyText, cutText } from './copy-text.ts';
import { LEAF, type Shape } from './shape.ts';

const NONE: readonly Element[] = [];
/** A longer list keeps copies of its texts, because each may be a slice of another piece of the document. */
const SHORT_LIST = 16;
/** The highest code of XML's white space. */
const BLANK = 0x20;

/** An element that was kept. A missing child or value is no error: any element can be left out by some reporter. */
export class Element implements XmlLocation {
  readonly name: string;
  readonly shape: Shape;
  readonly line: number;
  readonly column: number;
  readonly isAbsent: boolean;
  readonly #log: WarningLog;
  /** undefined for a leaf: four elements in five are leaves. */
  #children: Map<string, Element[]> | undefined;
  /** The text, at most one character longer than its limit. */
  #text = '';
  /** Whether more text, other than blanks, came after the limit. */
  #isCut = false;

  constructor(name: string, { shape, location, log, isAbsent = false }: ElementOptions) {
    this.name = name;
    this.shape = shape;
    this.line = location.line;
    this.column = location.column;
    this.isAbsent = isAbsent;
    this.#log = log;
  }

  /** Adds a piece of text. Text over the limit is not held, because a record may have many texts. */
  addText(text: string): void {
    if (this.#text === '' && text.length <= this.shape.maxChars) this.#text = text;
    else this.#append(text);
  }

  #append(text: string): void {
    if (this.#text.charCodeAt(0) <= BLANK) this.#text = this.#text.trimStart();
    const added = this.#text === '' ? text.trimStart() : text;
    const room = this.shape.maxChars + 1 - this.#text.length;
    if (added.length > room) this.#fill(added, room);
    else this.#text += added;
  }

  #fill(text: string, room: number): void {
    if (room > 0) this.#text = copyText(this.#text + text.slice(0, room));
    this.#isCut ||= text.slice(room).trim() !== '';
  }

  /** The first of a repeated element is kept, and as many of a list as the limit allows. */
  addChild(child: Element): void {
    this.#children ??= new Map();
    const siblings = this.#children.get(child.name);
    if (siblings === undefined) this.#children.set(child.name, [child]);
    else if (!child.shape.isList) child.warn('repeated_element');
    else if (siblings.length >= MAX_LIST_LENGTH) child.warn('long_list');
    else siblings.push(siblings.length < SHORT_LIST ? child : child.#detach());
  }

  /** This element, with texts that keep no piece of the document in memory. */
  #detach(): this {
    this.#text = copyText(this.#text);
    for (const children of this.#children?.values() ?? [])
      for (const child of children) child.#detach();
    return this;
  }

  all(name: string): readonly Element[] {
    return this.#children?.get(name) ?? NONE;
  }

  /** The only child with the name, or an empty element. */
  child(name: string): Element {
    const [first] = this.all(name);
    return (
      first ?? new Element(name, { shape: LEAF, location: this, log: this.#log, isAbsent: true })
    );
  }

  /** A child's text without surrounding blanks; null when it is missing or blank. */
  value(name: string): string | null {
    return this.#children?.get(name)?.[0]?.ownValue() ?? null;
  }

  ownValue(): string | null {
    const { maxChars } = this.shape;
    const text = this.#text.trim();
    if (text.length <= maxChars && !this.#isCut) return text === '' ? null : text;
    this.warn('long_value');
    return cutText(text, maxChars);
  }

  /** A child's text as a keyword. The RFCs' words are lower case; those of reporters (`Pass`, `None`) may not be. */
  word(name: string): string | null {
    return this.value(name)?.toLowerCase() ?? null;
  }

  warn(code: WarningCode): void {
    this.#log.add(code, this);
  }

  /** A reason not to take the report, which this element shows. */
  refusal(reason: RefusalReason, message: string): Refusal {
    return new Refusal(reason, message, renderLocation(this));
  }
}

interface ElementOptions {
  readonly shape: Shape;
  readonly location: XmlLocation;
  readonly log: WarningLog;
  readonly isAbsent?: boolean;
}
