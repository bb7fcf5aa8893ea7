import { html, raw } from 'hono/html';
import { toSafeText } from '../../domain/text.ts';

/* A mail's content, said once: as plain text, and as HTML that needs nothing from elsewhere. */

export interface Letter {
  readonly subject: string;
  readonly blocks: readonly Block[];
  /** Why it came. */
  readonly reason: string;
}

interface Link {
  readonly link: string;
  readonly text: string;
}

type Block = string | { readonly heading: string } | Link | { readonly list: readonly string[] };

type Html = ReturnType<typeof html>;

const MAX_SUBJECT = 150;
/** An alert with ten addresses fits in, and two long records. */
const MAX_PARAGRAPH = 1_500;

/**
 * Texts may come from strangers: each is one line without characters that change how others look. `links` stand below the
 * reason.
 */
export function renderLetter({ subject, blocks, reason }: Letter, links: readonly Link[] = []) {
  const footer = [reason, ...links];
  return {
    // nodemailer leaves what looks like an encoded word (RFC 2047) for the reader to decode.
    subject: toSafeText(subject, MAX_SUBJECT).replaceAll('=?', '= ?'),
    text: `${blocks.map(toText).join('\n\n')}\n\n-- \n${footer.map(toText).join('\n')}\n`,
    html: String(renderPage({ subject, blocks }, footer)),
  };
}

function toText(block: Block): string {
  if (typeof block === 'string') return toLine(block);
  if ('link' in block) return `${block.text}:\n${block.link}`;
  if ('heading' in block) return `${toLine(block.heading)}\n${'-'.repeat(20)}`;
  return block.list.map((item) => `* ${toLine(item)}`).join('\n');
}

const toLine = (text: string): string => toSafeText(text, MAX_PARAGRAPH);

/**
 * The look of the pages (palette.css). Without these styles the letter reads in its order. Clients that know no dark mode show
 * dark text on white.
 */
const STYLE = raw(`
:root { color-scheme: light dark; }
body { margin: 0; padding: 24px 16px; background: #f6f7f9; color: #1c2430;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; }
main { max-width: 600px; margin: 0 auto; padding: 16px 24px; overflow-wrap: anywhere;
  background: #fff; border: 1px solid #dfe3ea; border-radius: 12px; }
.brand { max-width: 650px; margin: 0 auto 12px; font-weight: 600; }
h1 { font-size: 20px; line-height: 1.3; } h2 { font-size: 17px; margin: 28px 0 8px; }
a { color: #0b6e63; } li { margin: 6px 0; }
.button { display: inline-block; padding: 8px 16px; border-radius: 8px; background: #0b6e63; color: #fff;
  font-weight: 600; text-decoration: none; }
footer { margin-top: 32px; padding-top: 12px; border-top: 1px solid #dfe3ea; color: #566072; font-size: 14px; }
footer p { margin: 4px 0; }
footer .button { padding: 0; background: none; color: #0b6e63; font-weight: 400; text-decoration: underline; }
@media (prefers-color-scheme: dark) {
  body { background: #11151b; color: #e6eaf0; } main { background: #181d25; border-color: #2b3340; }
  a, footer .button { color: #5cc9b8; } .button { background: #5cc9b8; color: #06231f; }
  footer { color: #a3adbd; border-color: #2b3340; } footer .button { background: none; }
}
`);

function renderPage({ subject, blocks }: Omit<Letter, 'reason'>, footer: readonly Block[]): Html {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${toSafeText(subject, MAX_SUBJECT)}</title>
<style>${STYLE}</style></head><body><header class="brand">Plumbline</header><main>
<h1>${toSafeText(subject, MAX_SUBJECT)}</h1>
${blocks.map(renderBlock)}
<footer>${footer.map(renderBlock)}</footer>
</main></body></html>`;
}

function renderBlock(block: Block): Html {
  if (typeof block === 'string') return html`<p>${toLine(block)}</p>\n`;
  if ('link' in block)
    return html`<p><a class="button" href="${block.link}">${block.text}</a></p>\n`;
  if ('heading' in block) return html`<h2>${toLine(block.heading)}</h2>\n`;
  return html`<ul>${block.list.map((item) => html`<li>${toLine(item)}</li>\n`)}</ul>\n`;
}
