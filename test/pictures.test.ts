import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serveDemo } from '../scripts/pictures/served.ts';
import { hashShown, PICTURES, SHOWN } from '../scripts/pictures/shown.ts';

test('the picture of the overview shows the overview as it is; else `npm run pictures` takes it again', async () => {
  const served = await serveDemo();
  const now = await hashShown(served, PICTURES.overview).finally(served.close);
  expect(JSON.parse(readFileSync(SHOWN, 'utf8')).overview).toBe(now);
});
