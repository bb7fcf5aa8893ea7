import GithubSlugger from 'github-slugger';
import highlight from 'highlight.js';
import { html, raw } from 'hono/html';
import { Marked, type RendererObject, type Tokens } from 'marked';
import { groupSamples, PROGRAMS, type Samples, toLanguage } from './samples.ts';

/**
 * Markdown as the HTML of a page: headings have anchors, samples are highlighted, links to guides lose their
 * `.md`.
 */
export function renderMarkdown(text: string): string {
  const marked = new Marked({ renderer: createRenderer() }, { extensions: [createSamples()] });
  return marked.parser(groupSamples(marked.lexer(text)));
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
    code: (token) => renderCode(token),
    table({ header, rows }) {
      const cells = (row: Tokens.TableCell[], open: string, close: string) =>
        row.map((cell) => `${open}${this.parser.parseInline(cell.tokens)}${close}`).join('');
      const head = `<thead><tr>${cells(header, '<th scope="col">', '</th>')}</tr></thead>`;
      const body = rows.map((row) => `<tr>${cells(row, '<td>', '</td>')}</tr>`).join('\n');
      return `<div class="scrolls" tabindex="0"><table>${head}<tbody>${body}</tbody></table></div>\n`;
    },
  };
}

/** In the repository a guide is a file in the same folder; on the site, a page without a file extension. */
function toSitePath(href: string): string {
  return href.replace(/^\.\.\/(?=[^/]+\.(yaml|json)$)/, '').replace(/^([a-z-]+)\.md(?=#|$)/, '$1');
}

function renderCode(token: Tokens.Code): string {
  const { language, file } = toLanguage(token);
  const code = highlight.getLanguage(language)
    ? highlight.highlight(token.text, { language }).value
    : String(html`${token.text}`);
  const title = file ?? PROGRAMS[language];
  const caption = title === undefined ? '' : `<figcaption>${title}</figcaption>`;
  const kind = language in PROGRAMS ? 'program' : 'output';
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
      if (programs.length === 1 && first !== undefined) return renderCode(first);
      count += 1;
      return String(renderChoice(programs, `samples-${count}`));
    },
  };
}

function renderChoice(programs: readonly Tokens.Code[], name: string) {
  const languages = programs.map((program) => toLanguage(program).language);
  return html`<fieldset class="samples"><legend class="unseen">Language</legend>${languages.map(
    (language, i) =>
      html`<input type="radio" name="${name}" id="${name}-${language}" ${i === 0 ? html`checked` : ''}><label for="${name}-${language}">${PROGRAMS[language]}</label>`,
  )}${programs.map((program) => raw(renderCode(program)))}</fieldset>
`;
}
