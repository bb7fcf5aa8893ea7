import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { listAgentFiles, toServedLinks } from '../../scripts/docs/agents.ts';
import { findDeadLinks } from '../../scripts/docs/links.ts';
import { renderMarkdown } from '../../scripts/docs/markdown.ts';
import { listAllPages, listOperationPages } from '../../scripts/docs/operations/pages.ts';
import { CLIENTS, cutSamples, listSamples } from '../../scripts/docs/operations/samples.ts';
import { GUIDES, PAGES, readGuide } from '../../scripts/docs/pages.ts';
import { renderOperation } from '../../scripts/docs/site.ts';
import { SANDBOX_KEY } from '../../src/domain/sandbox.ts';

/* The pages of operations, without Redoc. The contract is read here by a way of its own: what it has, its page has. */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: the contract as it is written, not as the pages read it.
type Node = any;

const contract: Node = parse(read('openapi/v1.yaml'));
const NAMES = ['icon.svg', 'docs.css', 'docs.js', 'search.json'];
const ASSETS = Object.fromEntries(NAMES.map((name) => [name, name]));
const LARGEST = 300_000;

const pages = listOperationPages(contract);
const files = listAgentFiles(pages);
const htmlOf = new Map<string, string>();

/** Each operation and webhook: its page is named by its id. */
const operations = [contract.paths, contract['x-webhooks']].flatMap((paths) =>
  Object.entries<Node>(paths).flatMap(([path, item]) =>
    Object.values<Node>(item).map((operation) => ({
      path,
      operation,
      name: String(operation.operationId),
      slug: `operations/${operation.operationId.replaceAll(/[A-Z]/g, (l: string) => `-${l.toLowerCase()}`)}`,
    })),
  ),
);

beforeAll(async () => {
  const common = { assets: ASSETS, operations: pages.slice(1) };
  for (const page of pages) htmlOf.set(page.slug, await renderOperation(page, common));
});

const follow = (node: Node): Node =>
  node?.$ref === undefined
    ? node
    : follow(
        node.$ref
          .slice(2)
          .split('/')
          .reduce((at: Node, step: string) => at[step], contract),
      );

interface Wanted {
  readonly path: string;
  /** Without the names of types. */
  readonly short: string;
  readonly schema: Node;
}

/**
 * Every field of a schema, by the names from the top. The anchor leaves out the names of types that choose a
 * schema, but where another type has a field of that name.
 */
function listWanted(
  node: Node,
  path: readonly string[] = [],
  short: readonly string[] = [],
): Wanted[] {
  const schema = follow(node);
  if (schema.items !== undefined) return listWanted(schema.items, path, short);
  const list = (entries: Node, isType: boolean) =>
    Object.entries<Node>(entries ?? {}).flatMap(([name, value]) => {
      const [whole, cut] = [[...path, name], isType ? short : [...short, name]];
      const own = { path: whole.join('.'), short: cut.join('.'), schema: follow(value) };
      return [own, ...listWanted(value, whole, cut)];
    });
  return [...list(schema.properties, false), ...list(schema['x-schema-by-type'], true)];
}

const bodyOf = ({ requestBody, responses }: Node) =>
  (requestBody ?? follow(responses['200'])).content['application/json'].schema;

/** The names of a list in Markdown with all that are around it, joined by dots. */
function listMarked(text: string): string[] {
  const around: string[] = [];
  return [...text.matchAll(/^( *)- `([^`]+)` \(/gm)].map(([, indent = '', name = '']) => {
    around.length = indent.length / 2;
    around.push(name);
    return around.join('.');
  });
}

/** As HTML shows a text. */
const toShown = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

test('every operation and webhook has a page, and no other page is there', () => {
  expect(pages.map(({ slug }) => slug)).toEqual([
    'operations',
    ...operations.map(({ slug }) => slug),
  ]);
  const list = htmlOf.get('operations') ?? '';
  for (const { slug } of operations) expect(list).toContain(`href="./${slug}"`);
});

describe.each(operations)('$name', ({ operation, path, slug }) => {
  const html = () => htmlOf.get(slug) ?? '';
  const markdown = () => files.get(`${slug}.md`) ?? '';
  const hasAnchor = (anchor: string) => html().split(` id="${anchor}"`).length === 2;

  test('its path, title and description are there', () => {
    expect(html()).toContain(`<h1>${toShown(operation.summary)}</h1>`);
    expect(markdown()).toMatch(`# ${operation.summary}\n`);
    for (const text of [html(), markdown()]) expect(text).toContain(path);
    expect(markdown()).toContain(operation.description.trim().split(/[`\n]/)[0]);
  });

  test('every parameter is there, with its values and bounds', () => {
    const names = listMarked(markdown());
    for (const parameter of operation.parameters.map(follow)) {
      const { name, schema } = parameter;
      expect(hasAnchor(name), name).toBe(true);
      expect(names).toContain(name);
      const [, facets = ''] = new RegExp(`- \`${name}\` \\((.*?)\\):`).exec(markdown()) ?? [];
      expect(facets).toContain(`in ${parameter.in}`);
      for (const bound of ['minimum', 'maximum', 'minLength', 'maxLength', 'default', 'format']) {
        if (schema[bound] !== undefined && schema[bound] !== 'any')
          expect(facets).toContain(String(schema[bound]));
      }
      holdValues(schema);
    }
  });

  test('every field is there once, with its type, its values and its words', () => {
    const taken = new Set(operation.parameters.map((node: Node) => follow(node).name));
    const names = listMarked(markdown());
    const wanted = listWanted(bodyOf(operation));
    expect(wanted.length).toBeGreaterThan(0);
    const used = new Set<string>();
    for (const { path: field, short, schema } of wanted) {
      const anchor = used.has(short) ? field : short;
      used.add(anchor);
      expect(hasAnchor(taken.has(anchor) ? `answer.${anchor}` : anchor), field).toBe(true);
      expect(names, field).toContain(field);
      holdValues(schema);
      const [words] = (schema.description ?? '').trim().split(/[`\n]/);
      expect(markdown(), field).toContain(words);
    }
  });

  const answers = Object.entries<Node>(operation.responses).map(
    ([status, node]) => [status, follow(node)] as const,
  );

  test('every header of each answer is there', () => {
    for (const [status, { headers = {} }] of answers) {
      for (const [name, header] of Object.entries<Node>(headers)) {
        for (const text of [html(), markdown()]) expect(text, status).toContain(name);
        holdValues(follow(header).schema);
      }
    }
  });

  test('every status and code is there', () => {
    for (const [status, { content }] of answers) {
      expect(html()).toContain(status);
      const examples = Object.values<Node>(content?.['application/json'].examples ?? {});
      for (const code of examples.flatMap(({ value }) => value.error?.code ?? [])) {
        expect(html()).toContain(`<code>${code}</code>`);
        expect(markdown()).toContain(`### ${status} \`${code}\``);
      }
    }
  });

  test('request and answers, or the delivery, are beside the rest, and nested fields are folded', () => {
    expect(html().split('<div class="beside">')).toHaveLength(2);
    if (path.startsWith('/')) {
      expect(html()).toContain(`<b>GET</b> <code>${toShown(path)}</code>`);
      expect(html()).toMatch(/<label for="tabs-\d+-1">\d{3}<\/label>/);
      const place = `${operation.tags[0]}/${operation.operationId}`.toLowerCase();
      expect(html()).toContain(`href="../reference#/${place}"`);
    }
    for (const [, name, open] of html().matchAll(
      /<div id="([^"]+)"><dt>(?:(?!<div id).)*?<details( open)?><summary>Fields of/gs,
    ))
      expect(open !== undefined, name).toBe(!name?.includes('.'));
  });

  test('the whole example is there', () => {
    const content = (operation.requestBody ?? follow(operation.responses['200'])).content;
    for (const { value } of Object.values<Node>(content['application/json'].examples)) {
      expect(markdown()).toContain(JSON.stringify(value, null, 2));
    }
  });

  test('it is small, needs no script, and has each anchor once', () => {
    expect(Buffer.byteLength(html())).toBeLessThan(LARGEST);
    expect(html().match(/<script/g)).toHaveLength(1);
    const anchors = [...html().matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(anchors.filter((id, i) => anchors.indexOf(id) !== i)).toEqual([]);
  });

  function holdValues(schema: Node): void {
    for (const value of schema.enum ?? []) {
      expect(html()).toContain(`<code>${toShown(String(value))}</code>`);
      expect(markdown()).toContain(`\`${value}\``);
    }
  }
});

describe('samples', () => {
  const called = operations.filter(({ path }) => path.startsWith('/'));

  test.each(called)(
    '$name has four, each in a program that CI runs',
    ({ name, path, slug, operation }) => {
      const samples = listSamples(path, name);
      expect(samples.map(({ label }) => label)).toEqual(['curl', 'TypeScript', 'Python', 'Go']);
      for (const { language, source } of samples.slice(1)) {
        const file = CLIENTS.find((client) => client.language === language)?.file ?? '';
        const program = read(file)
          .split('\n')
          .map((line) => line.trim());
        for (const line of source.split('\n')) expect(program, line).toContain(line.trim());
        expect(files.get(`${slug}.md`)).toContain(source);
      }
      // The samples, what comes before them, and the answers by status, each as tabs.
      const bodies = Object.values<Node>(operation.responses).filter(
        (node) => follow(node).content,
      );
      const tabs = 2 * samples.length - 1 + bodies.length;
      expect(htmlOf.get(slug)?.match(/<input type="radio"/g)).toHaveLength(tabs);
    },
  );

  test('the clients that have them are run by CI', () => {
    const steps = read('.ci/run');
    for (const { file } of CLIENTS) expect(steps).toContain(`client ${file.split('/')[2]}`);
  });

  test('a part may stand in several places, and in another part', () => {
    const program = `// sample: a
  one();
  // sample: b
    two();
  // end
// end
three();
# sample: a
four();
# end`;
    expect(Object.fromEntries(cutSamples(program))).toEqual({
      a: 'one();\n  two();\n\nfour();',
      b: 'two();',
    });
  });
});

test('no link of the pages is broken', () => {
  const linked = [
    ...[...htmlOf].map(([name, html]) => ({ name, html })),
    ...GUIDES.map(({ slug }) => ({ name: slug, html: renderMarkdown(readGuide(slug)) })),
  ];
  const others = [
    'v1.yaml',
    'v1.json',
    'workflows.arazzo.yaml',
    'reference',
    'changelog',
    ...files.keys(),
  ];
  const places = [
    ...linked
      .map(({ html }) => html)
      .join('')
      .matchAll(/reference#([^"]+)"/g),
  ];
  const dead = findDeadLinks(
    linked,
    new Set([...others, ...Object.values(ASSETS)]),
    // The site's own test knows the anchors of the reference.
    new Set(places.map(([, place = '']) => place)),
  );
  expect(dead).toEqual([]);
});

describe('for programs', () => {
  test('every page is there as Markdown, and links by whole paths', () => {
    for (const { slug } of listAllPages(pages)) {
      const text = (files.get(`${slug}.md`) ?? '').replaceAll(/^```.*?^```$/gms, '');
      expect(text, slug).toMatch(/^# \S/);
      expect(text, slug).not.toMatch(/\]\((?!\/docs\/|https?:|#)[^)]*\)/);
    }
  });

  test('links of a guide lead to pages, and its code is left alone', () => {
    expect(toServedLinks('[a](errors.md#x) [b](../v1.yaml) [c](index.md) `x[y](z)`')).toBe(
      '[a](/docs/errors#x) [b](/docs/v1.yaml) [c](/docs/) `x[y](z)`',
    );
  });

  test('pages.json has every page in reading order', () => {
    const list: Node[] = JSON.parse(files.get('pages.json') ?? '');
    expect(list[0]).toEqual({
      path: '',
      title: PAGES[0]?.title,
      description: PAGES[0]?.description,
    });
    const paths = list.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(operations.map(({ slug }) => slug)));
    expect(paths.filter((path) => !path.startsWith('operations/'))).toEqual([
      '',
      ...PAGES.slice(1).map(({ slug }) => slug),
    ]);
    for (const { title, description } of list) {
      expect(title).toMatch(/\S/);
      expect(description).toMatch(/\S.*\.$/);
    }
  });

  test('llms.txt has the sandbox, and links only to what is there', () => {
    const text = files.get('llms.txt') ?? '';
    expect(text).toMatch(/^# .+\n\n> .+\n/);
    expect(text).toContain(SANDBOX_KEY);
    const links = [...text.matchAll(/\]\(http:\/\/127\.0\.0\.1:8080\/([^)]*)\)/g)].map(
      ([, to]) => to,
    );
    expect(links).toEqual(
      expect.arrayContaining(['mcp', 'sandbox/mcp', 'docs/getting-started.md']),
    );
    const there = new Set([...files.keys(), 'v1.yaml', 'v1.json', 'workflows.arazzo.yaml']);
    const docs = links.flatMap((link) => /^docs\/(.*)/.exec(link ?? '')?.[1] ?? []);
    expect(docs.filter((link) => !there.has(link))).toEqual([]);
    for (const { slug } of operations) expect(docs).toContain(`${slug}.md`);
  });
});
