import GithubSlugger from 'github-slugger';
import { marked, type Token, type Tokens } from 'marked';
import { findCode } from './markdown.ts';
import type { Block, BlockPage, Field } from './operations/blocks.ts';
import type { Page } from './pages.ts';

/** What the search finds: its address below `/docs/`, its name, the title of its page, and its words. */
export interface Entry {
  readonly at: string;
  readonly name: string;
  readonly page: string;
  readonly text: string;
}

/** The sections of a guide, and each code that a table describes. */
export function listGuideEntries(
  { slug, title }: Pick<Page, 'slug' | 'title'>,
  text: string,
): Entry[] {
  const slugger = new GithubSlugger();
  const path = slug === 'index' ? '' : slug;
  return toSections(marked.lexer(text)).flatMap(({ heading, tokens }) => {
    const rows = tokens.flatMap((token) => (token.type === 'table' ? toRows(token) : []));
    const codes = rows.flatMap((cells) => {
      const code = findCode(cells);
      if (code === undefined) return [];
      return { at: `${path}#${code}`, name: code, page: title, text: toWords(cells.join(' ')) };
    });
    const rest = rows.filter((cells) => findCode(cells) === undefined).map((row) => row.join(' '));
    const words = tokens.filter(isText).map(({ raw }) => raw);
    const place =
      heading === undefined
        ? { at: path, name: title }
        : { at: `${path}#${slugger.slug(heading)}`, name: toWords(heading) };
    return [{ ...place, page: title, text: toWords([...words, ...rest].join(' ')) }, ...codes];
  });
}

interface Section {
  /** The title of the page has no anchor. */
  readonly heading: string | undefined;
  readonly tokens: Token[];
}

function toSections(tokens: readonly Token[]): Section[] {
  const sections: Section[] = [{ heading: undefined, tokens: [] }];
  for (const token of tokens) {
    if (token.type === 'heading' && token['depth'] > 1)
      sections.push({ heading: token['text'], tokens: [] });
    else sections.at(-1)?.tokens.push(token);
  }
  return sections;
}

function toRows(token: Token): string[][] {
  return (token as Tokens.Table).rows.map((row) => row.map(({ text }) => text));
}

/** Samples are found by the words around them, and tables by their rows. */
function isText({ type }: Token): boolean {
  return !['code', 'heading', 'table'].includes(type);
}

/** Markdown without its marks. */
function toWords(text: string): string {
  const unlinked = text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1');
  return unlinked
    .replaceAll(/```\w*|[`*|]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Each page of the contract, and once each parameter, header and field: where the fewest names lead to it. */
export function listOperationEntries(pages: readonly BlockPage[]): Entry[] {
  const [overview, ...operations] = pages;
  const seen = new Set<string>();
  const fields = operations
    .flatMap((page) => page.blocks.flatMap((block) => listFieldEntries(page, block)))
    .toSorted((one, other) => toDepth(one) - toDepth(other))
    .filter(({ name, text }) => seen.size < seen.add(`${name} ${text}`).size);
  return [
    ...(overview === undefined ? [] : listGuideEntries(overview, toText(overview.blocks))),
    ...operations.map(({ slug, title, blocks }) => ({
      at: slug,
      name: title,
      page: 'Reference',
      // After the title, what it is asked by and its description; at the end, its name in the contract.
      text: toWords(toText([...blocks.slice(1, 3), ...blocks.slice(-1)])),
    })),
    ...fields,
  ];
}

function toText(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.kind === 'words' ? block.text : '')).join('\n\n');
}

function listFieldEntries({ slug, title }: BlockPage, block: Block): Entry[] {
  if (block.kind !== 'fields') return [];
  return listWithInner(block.fields).map(({ name, anchor, description, values }) => ({
    at: `${slug}#${anchor}`,
    name,
    page: title,
    text: toWords([description, ...values].join(' ')),
  }));
}

function listWithInner(fields: readonly Field[]): Field[] {
  return fields.flatMap((field) => [field, ...listWithInner(field.fields)]);
}

function toDepth({ at }: Entry): number {
  return at.split('.').length;
}
