import { readFileSync } from 'node:fs';
import GithubSlugger from 'github-slugger';
import highlight from 'highlight.js';
import { html, raw } from 'hono/html';
import { Marked, type RendererObject, type Tokens } from 'marked';
import { groupSamples, PROGRAMS, type Samples, toLanguage } from './samples.ts';

/** A page with fewer sections is read without a list of them. */
const FEWEST_IN_CONTENTS = 4;

/**
 * Markdown as the HTML of a page: headings have anchors, samples are highlighted, links to guides lose their
 * `.md`.
 */
export function renderMarkdown(text: string): string {
  const marked = new Marked({ renderer: createRenderer() }, { extensions: [createSamples()] });
  return marked.parser(groupSamples(marked.lexer(text)));
}

/** A long page gets a list of its sections before the first. */
export function addContents(page: string): string {
  const sections = [...page.matchAll(/<h2 id="([^"]+)">(.*?) <a class="anchor"/g)];
  if (sections.length < FEWEST_IN_CONTENTS) return page;
  const links = sections.map(([, id, words]) => `<li><a href="#${id}">${words}</a></li>`);
  const list = `<nav class="contents" aria-label="On this page"><ul>${links.join('')}</ul></nav>`;
  return page.replace('<h2 ', () => `${list}\n<h2 `);
}

function createRenderer(): RendererObject {
  const slugger = new GithubSlugger();
  return {
    heading({ tokens, depth, text }) {
      const words = this.parser.parseInline(tokens);
      if (depth === 1) return `<h1>${words}</h1>\n`;
      const id = slugger.slug(text);
      const label = `Link to “${text.replaceAll(/[`"]/g, '')}”`;
      return `<h${depth} id="${id}">${words} <a class="anchor" href="#${id}" aria-label="${label}">#</a></h${depth}>\n`;
    },
    link({ href, tokens }) {
      return `<a href="${toSitePath(href)}">${this.parser.parseInline(tokens)}</a>`;
    },
    image: ({ href, text }) => renderDrawing(href, text),
    code: (token) => renderCode(token, PROGRAMS),
    table({ header, rows }) {
      const cells = (row: Tokens.TableCell[], open: string, close: string) =>
        row.map((cell) => `${open}${this.parser.parseInline(cell.tokens)}${close}`).join('');
      const head = `<thead><tr>${cells(header, '<th scope="col">', '</th>')}</tr></thead>`;
      const body = rows
        .map((row) => `<tr${toRowId(row)}>${cells(row, '<td>', '</td>')}</tr>`)
        .join('\n');
      return `<div class="scrolls" tabindex="0"><table>${head}<tbody>${body}</tbody></table></div>\n`;
    },
  };
}

/** A row about a code, as `cursor_expired`, has it as its anchor. */
function toRowId(row: readonly Tokens.TableCell[]): string {
  const code = findCode(row.map(({ text }) => text));
  return code === undefined ? '' : ` id="${code}"`;
}

/** The code that a row of a table is about: it is alone in one of the first two cells. */
export function findCode(cells: readonly string[]): string | undefined {
  const [code] = cells
    .slice(0, 2)
    .flatMap((cell) => /^`([a-z_]+(?:\.[a-z_]+)*)`$/.exec(cell) ?? []);
  return code?.slice(1, -1);
}

/** A drawing is put into the page, so that it has the colours of the page. Its text is read aloud in its place. */
function renderDrawing(href: string, text: string): string {
  const drawing = readFileSync(new URL(`../../openapi/guides/${href}`, import.meta.url), 'utf8');
  return drawing
    .replace(/aria-label="[^"]*"/, () => String(html`class="drawing" aria-label="${text}"`))
    .trimEnd();
}

/** In the repository a guide is a file in the same folder; on the site, a page without a file extension. */
function toSitePath(href: string): string {
  return href
    .replace(/^\.\.\/(?=[^/]+\.(yaml|json|svg)$)/, '')
    .replace(/^([a-z-]+)\.md(?=#|$)/, '$1');
}

function renderCode(token: Tokens.Code, titles: Readonly<Record<string, string>>): string {
  const { language, file } = toLanguage(token);
  const code = highlight.getLanguage(language)
    ? highlight.highlight(token.text, { language }).value
    : String(html`${token.text}`);
  const isProgram = language in PROGRAMS;
  const title = file ?? titles[language];
  const caption = isProgram || title ? `<figcaption>${title ?? ''}</figcaption>` : '';
  const kind = isProgram ? 'program' : 'output';
  return `<figure class="code ${kind}">${caption}<pre tabindex="0"><code>${code}</code></pre></figure>\n`;
}

/** Tabs without a script: a radio button for each language, and the block of the selected one. */
function createSamples() {
  let count = 0;
  return {
    name: 'samples',
    renderer: (token: Tokens.Generic) => {
      const { programs } = token as Samples;
      const [first] = programs;
      if (programs.length === 1 && first !== undefined) return renderCode(first, PROGRAMS);
      count += 1;
      return String(renderChoice(programs, `samples-${count}`));
    },
  };
}

function renderChoice(programs: readonly Tokens.Code[], name: string) {
  const tabs = programs.map((program) => {
    const { language } = toLanguage(program);
    return { label: PROGRAMS[language] ?? language, content: renderCode(program, {}) };
  });
  return renderTabs('Language', name, tabs);
}

/** The first is open. What a tab has is after its label, so that the style needs no count of them. */
export function renderTabs(
  legend: string,
  name: string,
  tabs: readonly { readonly label: string; readonly content: string }[],
) {
  return html`<fieldset class="samples"><legend class="unseen">${legend}</legend>${tabs.map(
    ({ label, content }, i) =>
      html`<input type="radio" name="${name}" id="${name}-${i}" ${i === 0 ? html`checked` : ''}><label for="${name}-${i}">${label}</label><div>${raw(content)}</div>`,
  )}</fieldset>
`;
}
