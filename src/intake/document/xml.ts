import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { Refusal } from '../../domain/reports/refusal.ts';
import { MAX_DEPTH, MAX_XML_ELEMENTS, MAX_XML_NAME_CHARS, MAX_XML_TEXT_CHARS } from '../limits.ts';
import { renderLocation, type WarningLog, type XmlLocation } from '../warnings.ts';
import { cutText } from './copy-text.ts';
import { Namespaces } from './namespaces.ts';
import type { ReportTree } from './tree.ts';

const ROOT = 'feedback';
/** Children of the root whose elements are counted separately. */
const RECORD = 'record';
const ANOTHER_ROOT = /<(?:[\w.-]+:)?feedback[\s/>]/;
const SECOND_REPORT = 'a second report follows the first one';
const TAG_CHARS = 64;
const MAX_REASON_CHARS = 200;
const NO_ATTRIBUTES: SaxesTagPlain['attributes'] = {};
const MISMATCH = 'unexpected close tag.';

/** What an attribute costs, in tokens. */
const ATTRIBUTE_TOKENS = 5;

/**
 * An XML document with `feedback` as its root, read piece by piece: well-formed, without a document type, within the
 * limits. Elements of other namespaces are ignored. Anything after the root is cut off, unless it is a second report.
 */
export class XmlParser {
  readonly #namespaces = new Namespaces();
  readonly #parser = new SaxesParser();
  readonly #tree: ReportTree;
  readonly #log: WarningLog;
  #depth = 0;
  #isRootClosed = false;
  /** Something else follows the root: the parser gets no more text. */
  #isCut = false;
  /** The end of the text before, in which a tag may have begun. */
  #lastText = '';
  #elements = { inRecord: 0, outside: 0 };
  #isInRecord = false;
  /** Tags, attributes and texts so far. */
  tokens = 0;
  /** Characters since the last token, to limit a single text, tag or comment. */
  #pending = 0;

  constructor(tree: ReportTree, log: WarningLog) {
    this.#tree = tree;
    this.#log = log;
    // At most six handlers: with the eighth the parser's object loses its fast properties, with the seventh most of
    // its speed (60 MB then take 2 to 4 s instead of 0.5 s).
    this.#parser.on('opentag', (tag) => this.#open(tag));
    this.#parser.on('text', (text) => this.#text(text));
    this.#parser.on('cdata', (text) => this.#text(text));
    this.#parser.on('closetag', () => this.#close());
    this.#parser.on('doctype', () => {
      throw new Refusal('doctype_forbidden', 'The document has a DOCTYPE, which is never read.');
    });
    this.#parser.on('error', (error) => this.#fail(error));
  }

  /** The namespace of the root, as found. */
  get namespace(): string | null {
    return this.#namespaces.root;
  }

  /** The location of the next text. */
  get location(): XmlLocation {
    return { line: this.#parser.line, column: this.#parser.column };
  }

  write(text: string): void {
    if (!this.#isCut) this.#parse(text);
    else if (ANOTHER_ROOT.test(this.#lastText + text)) throw this.#badXml(SECOND_REPORT);
    this.#lastText = text.slice(-TAG_CHARS);
  }

  #parse(text: string): void {
    const { tokens } = this;
    this.#parser.write(text);
    this.#pending = tokens === this.tokens ? this.#pending + text.length : 0;
    if (this.#pending <= MAX_XML_TEXT_CHARS) return;
    if (!this.#isRootClosed) throw tooLarge('a text, tag or comment is too long');
    this.#isCut = true;
  }

  end(): void {
    if (!this.#isCut) this.#parser.close();
  }

  #checkRoot(name: string): void {
    if (this.#isRootClosed && name === ROOT) throw this.#badXml(SECOND_REPORT);
    if (!this.#isRootClosed && name !== ROOT)
      throw new Refusal('not_aggregate', `The root element is <${name.slice(0, TAG_CHARS)}>.`);
  }

  #open(tag: SaxesTagPlain): void {
    const { name, attributes } = tag;
    // The parser holds every open tag, and 64 of them may have 250,000 attributes each.
    tag.attributes = NO_ATTRIBUTES;
    if (name.length > MAX_XML_NAME_CHARS) throw tooLarge('the name of an element is too long');
    this.tokens += 1;
    // Many different names make an object slow.
    for (const _ in attributes) this.tokens += ATTRIBUTE_TOKENS;
    const local = localName(name);
    if (this.#depth === 0) this.#checkRoot(local);
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw tooLarge('elements are nested too deep');
    this.#countElement(local);
    if (this.#isRootClosed) return;
    // No element of a report has the empty name.
    const isOwn = this.#namespaces.open(name, attributes);
    this.#tree.open(isOwn ? local : '', this.#parser);
  }

  #countElement(name: string): void {
    if (this.#depth === 2) {
      this.#isInRecord = name === RECORD;
      this.#elements.inRecord = 0;
    }
    const counter = this.#isInRecord ? 'inRecord' : 'outside';
    this.#elements[counter] += 1;
    if (this.#elements[counter] > MAX_XML_ELEMENTS) throw tooLarge('there are too many elements');
  }

  #text(text: string): void {
    this.tokens += 1;
    if (this.#depth === 0 || this.#isRootClosed) return;
    if (text.length > MAX_XML_TEXT_CHARS) throw tooLarge('a text is too long');
    this.#tree.text(text);
  }

  #close(): void {
    this.tokens += 1;
    this.#depth -= 1;
    if (!this.#isRootClosed) {
      this.#tree.close();
      this.#namespaces.close();
    }
    if (this.#depth === 0) this.#isRootClosed = true;
  }

  #fail(error: Error): void {
    // The parser closes an element before it reports that the closing tag has another name.
    const isMismatch = !this.#isCut && error.message.endsWith(MISMATCH);
    if (!this.#isRootClosed || isMismatch) throw this.#badXml(toReason(error));
    if (!this.#isCut) this.#log.add('text_after_report', this.location);
    this.#isCut = true;
  }

  #badXml(why: string): Refusal {
    const { line, column } = this.location;
    // The parser's position is after the character that caused the error.
    const where = renderLocation({ line, column: Math.max(0, column - 1) });
    // Then the reporter's XML is probably right, and what carried it is not.
    const cause = this.#log.has('gzip_truncated') ? ' The gzip data ends early.' : '';
    return new Refusal('bad_xml', `Not well-formed XML: ${why}.${cause}`, where);
  }
}

/** Cut, because the parser's message quotes the document. */
function toReason({ message }: Error): string {
  return cutText(message.replace(/^\d+:\d+: |\.$/g, ''), MAX_REASON_CHARS);
}

/** Few names have a prefix, and searching from the end is slower. */
const localName = (name: string): string =>
  name.includes(':') ? name.slice(name.lastIndexOf(':') + 1) : name;

const tooLarge = (why: string): Refusal =>
  new Refusal('too_large', `The XML is too large: ${why}.`);
