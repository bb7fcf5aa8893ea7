/**
 * A page as a list of blocks, which `as-html.ts` and `as-markdown.ts` render. Texts in it are Markdown; links to
 * pages begin with `/docs/`.
 */
export interface BlockPage {
  /** Its path under `/docs/`. */
  readonly slug: string;
  readonly title: string;
  /** A sentence for search results and for agents. */
  readonly description: string;
  readonly blocks: readonly Block[];
}

export type Block = Words | Fields | Folded | Request | Tabs | Beside;

/** Where an operation is. */
interface Request {
  readonly kind: 'request';
  readonly method: string;
  readonly path: string;
}

/** Texts of which one is shown. */
interface Tabs {
  readonly kind: 'tabs';
  readonly legend: string;
  readonly tabs: readonly { readonly label: string; readonly text: string }[];
}

/** What is beside the rest of the page where there is room. */
interface Beside {
  readonly kind: 'beside';
  readonly blocks: readonly Exclude<Block, Beside>[];
}

interface Words {
  readonly kind: 'words';
  readonly text: string;
}

interface Fields {
  readonly kind: 'fields';
  readonly fields: readonly Field[];
}

/** Words that are shown when somebody opens them. */
interface Folded {
  readonly kind: 'folded';
  readonly title: string;
  readonly text: string;
}

/** A parameter, a header or a field, with the fields in it. */
export interface Field {
  readonly name: string;
  readonly anchor: string;
  /** What its value may be, in a few words each: `string`, `1 to 200`, `required`. */
  readonly facets: readonly string[];
  /** The only values that it has; empty when it may have others. */
  readonly values: readonly string[];
  readonly description: string;
  readonly example: string | undefined;
  readonly fields: readonly Field[];
}

export const words = (...lines: readonly string[]): Words => ({
  kind: 'words',
  text: lines.join('\n\n'),
});

export const fields = (list: readonly Field[]): Fields => ({ kind: 'fields', fields: list });

/** A block of code in Markdown. */
export const code = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;
