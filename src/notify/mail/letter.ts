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

/** Without these styles the letter reads in its order. Clients that know no dark mode show dark text on white. */
const STYLE = raw(`
:root { color-scheme: light dark; }
body { margin: 0; padding: 24px 16px; background: #fff; color: #1c2530;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 600px; margin: 0 auto; overflow-wrap: anywhere; }
h1 { font-size: 20px; line-height: 1.3; } h2 { font-size: 17px; margin: 28px 0 8px; }
a { color: #0b57a4; } .button { display: inline-block; padding: 10px 16px; border: 1px solid #0b57a4; border-radius: 6px; }
li { margin: 6px 0; }
footer { margin-top: 32px; padding-top: 12px; border-top: 1px solid #c9d0d8; color: #4d5966; font-size: 14px; }
footer p { margin: 4px 0; } footer .button { padding: 0; border: 0; }
@media (prefers-color-scheme: dark) {
  body { background: #13171c; color: #e6eaee; } a, .button { color: #8ec5ff; border-color: #8ec5ff; }
  footer { color: #a9b4bf; border-color: #3a444f; }
}
`);

function renderPage({ subject, blocks }: Omit<Letter, 'reason'>, footer: readonly Block[]): Html {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${toSafeText(subject, MAX_SUBJECT)}</title>
<style>${STYLE}</style></head><body><main>
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
