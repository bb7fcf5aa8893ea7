import { html } from 'hono/html';
import { addUp } from '../../../domain/alerts/rate.ts';
import { describePassed, type Html } from '../text.ts';
import type { Column } from './columns.ts';

/** The least height of failures in a column, in hundredths, so that one in a thousand is visible. */
const MIN_FAILED = 4;

/** Pass rates as a small chart without axes: passed messages below, failed ones above. */
export function renderSparkline(columns: readonly Column[], name: string): Html {
  const bars = columns.map(({ messages, aligned }, i) => {
    if (messages === 0) return renderBar('none', i, [96, 4]);
    const share = ((messages - aligned) / messages) * 100;
    const failed = aligned === messages ? 0 : Math.round(Math.max(MIN_FAILED, share) * 10) / 10;
    return html`${renderBar('failed', i, [0, failed])}${renderBar('passed', i, [failed, 100 - failed])}`;
  });
  const words = `Pass rate of ${name}, ${columns.length} days: ${describePassed(addUp(columns))}`;
  return html`<svg class="spark" viewBox="0 0 ${columns.length} 100" preserveAspectRatio="none" role="img" aria-label="${words}">${bars}</svg>`;
}

function renderBar(kind: string, i: number, [y, height]: readonly [number, number]): Html | '' {
  if (height <= 0) return '';
  return html`<rect class="${kind}" x="${i}" y="${y}" width="0.7" height="${height}"/>`;
}
