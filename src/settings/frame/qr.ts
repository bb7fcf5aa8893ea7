import { html, raw } from 'hono/html';
import type { Html } from './page.ts';

/**
 * A QR code as an image of SVG: one path of squares, dark on light in every colour scheme, because readers of codes
 * expect it so.
 */
export async function renderQr(text: string, label: string): Promise<Html> {
  const { encode } = await import('uqr');
  // The quiet zone around the code is four modules wide (ISO/IEC 18004).
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const squares = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges">
    <path fill="white" d="M0 0h${size}v${size}h-${size}z"/><path fill="black" d="${raw(squares.join(''))}"/>
  </svg>`;
}
