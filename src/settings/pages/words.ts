import { html } from 'hono/html';
import type { Html } from '../frame/text.ts';

/** What pages of a domain say without an explanation beside it (RFC 7489, RFC 7208, RFC 6376). */
const WORDS: readonly (readonly [word: string, meaning: string])[] = [
  [
    'Passes DMARC',
    'SPF or DKIM passes, and is aligned: what passed belongs to the domain in the From line that people see.',
  ],
  ['SPF', 'A list in the domain’s DNS of the servers that may send for it. Forwarding breaks it.'],
  [
    'DKIM',
    'A signature that the sender adds to each message. Its key is in the domain’s DNS, under a name that is called selector.',
  ],
  [
    'Policy',
    'What the domain’s DMARC record asks receivers to do with mail that fails. p=none: nothing but report it. p=quarantine: treat it as spam. p=reject: refuse it.',
  ],
  [
    'Source, sender',
    'A source is an address that sent mail in the domain’s name. A sender is all sources of one service, or of one network.',
  ],
  ['Yours', 'A sender of the domain’s owner: mail of it passes, or you marked it as legitimate.'],
  [
    'Needs set-up',
    'A sender of the owner that does not pass yet: a service, a server, or a signature whose key does not verify.',
  ],
  [
    'Passed on',
    'Mail of the owner that somebody got and sent on, as mailing lists and redirected mailboxes do.',
  ],
  ['Not recognised', 'Nothing shows whose it is. If you know the sender, mark it.'],
  [
    'Forged',
    'Sent in the domain’s name without its owner: you marked it as unknown, or many scattered addresses sent what SPF refuses.',
  ],
  ['Report', 'What a mailbox provider counted on one day: who sent, and what passed.'],
];

export function renderWords(): Html {
  return html`<details class="card"><summary>What the words mean</summary>
    <dl class="facts">${WORDS.map(([word, meaning]) => html`<dt>${word}</dt><dd>${meaning}</dd>`)}</dl>
  </details>`;
}
