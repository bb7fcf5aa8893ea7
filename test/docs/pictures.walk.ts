import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serveDemo } from '../../scripts/pictures/served.ts';
import { hashShown, PICTURES, SHOWN } from '../../scripts/pictures/shown.ts';

// Here, because the docs are built for the samples.
test('the picture of the reference shows it as it is; else `npm run pictures` takes it again', async () => {
  const served = await serveDemo();
  const now = await hashShown(served, PICTURES.reference).finally(served.close);
  expect(JSON.parse(readFileSync(SHOWN, 'utf8')).reference).toBe(now);
});
