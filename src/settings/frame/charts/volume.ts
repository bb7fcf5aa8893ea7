import { html } from 'hono/html';
import { addUp } from '../../../domain/alerts/rate.ts';
import { describeFailed, formatPeriod, type Html } from '../text.ts';
import { toCountAxis } from './axes.ts';
import type { Columns } from './columns.ts';
import { renderPlot } from './plot.ts';

/** A bar leaves a gap of 0.3 columns. */
const [LEFT, WIDTH] = [0.15, 0.7];
/** The least height of failures, in hundredths: one in a thousand is visible. */
const MIN_FAILED = 1;

/** Messages by column: passed ones below, failed ones above. */
export function renderVolume({ unit, columns }: Columns): Html {
  const axis = toCountAxis(columns.map(({ messages }) => messages));
  const bars = columns.map(({ messages, aligned }, i) => {
    const top = axis.toY(messages) * 100;
    const share = axis.toY(aligned) * 100 - top;
    const failed = aligned === messages ? 0 : Math.max(MIN_FAILED, share);
    return html`${renderBar('failed', { i, y: top, height: failed })}${renderBar('passed', { i, y: top + failed, height: 100 - top - failed })}`;
  });
  const all = describeFailed(addUp(columns));
  return renderPlot({
    ...{ caption: `Messages by ${unit}`, words: `Messages by ${unit}; in all ${all}`, total: all },
    ...{ columns, axis },
    shapes: html`${bars}`,
    tell: (column) => `${formatPeriod(column)}: ${describeFailed(column)}`,
  });
}

interface Bar {
  readonly i: number;
  readonly y: number;
  readonly height: number;
}

function renderBar(kind: string, { i, y, height }: Bar): Html | '' {
  if (height <= 0) return '';
  return html`<rect class="${kind}" x="${i + LEFT}" y="${toHundredth(y)}" width="${WIDTH}" height="${toHundredth(height)}"/>`;
}

function toHundredth(value: number): number {
  return Math.round(value * 100) / 100;
}
