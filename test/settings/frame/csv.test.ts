import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import request from 'supertest';
import { expect, onTestFinished, test } from 'vitest';
import { type Cell, MAX_ROWS, sendCsv } from '../../../src/settings/frame/csv.ts';

function serve(rows: AsyncIterable<readonly Cell[]>, count = 0) {
  const app = express();
  const answer: RequestHandler = async (_req, res) => {
    res.locals['visitor'] = { personId: 'p' };
    await sendCsv(res, { fileName: 'a/b "c"', heads: ['Name', 'Count'], count, rows });
  };
  app.get('/', answer);
  return app;
}

async function* aFew(...rows: readonly (readonly Cell[])[]) {
  yield* rows;
}

test('a file has a head, CR LF and quotes where a cell needs them', async () => {
  const rows = aFew(['a, b', 1], ['“ü”\n"x"', 0], [null, -2], ['c\rd', 3]);
  const { headers, text } = await request(serve(rows)).get('/');
  expect(text).toBe('\ufeffName,Count\r\n"a, b",1\r\n"“ü”\n""x""",0\r\n,-2\r\n"c\rd",3\r\n');
  expect(headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': 'attachment; filename="a_b__c_.csv"',
    'content-security-policy': "sandbox; default-src 'none'",
  });
});

const SKIPPED = [' ', '\t ', '\n', '\r\n', '\0', '\uFEFF', '\u200B', '\u2060', '\u00A0', '\u3164'];

test.each([
  ...['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '=cmd|" /C calc"!A0'],
  // Spreadsheets skip these before they look for a formula.
  ...SKIPPED.flatMap((skipped) => [`${skipped}=1`, `${skipped}${skipped}@SUM(A1)`]),
])('no spreadsheet calculates %j', async (cell) => {
  const { text } = await request(serve(aFew([cell, 1]))).get('/');
  const quoted = /[\r\n"]/.test(cell) ? `"'${cell.replaceAll('"', '""')}"` : `'${cell}`;
  expect(text).toBe(`\ufeffName,Count\r\n${quoted},1\r\n`);
});

test('too many rows are refused before any is read', async () => {
  let hasStarted = false;
  const rows = async function* (): AsyncGenerator<readonly Cell[]> {
    hasStarted = true;
    yield [];
  };
  const { status } = await request(serve(rows(), MAX_ROWS + 1)).get('/');
  expect([status, hasStarted]).toEqual([500, false]);
});

test('a client that reads no further gets no rows made, and one that leaves ends them', async () => {
  let made = 0;
  let hasEnded = (): void => undefined;
  const end = new Promise<void>((resolve) => {
    hasEnded = resolve;
  });
  const rows = async function* () {
    try {
      for (; made < MAX_ROWS; made++) yield ['x'.repeat(10_000), made];
    } finally {
      hasEnded();
    }
  };
  const server = createServer(serve(rows())).listen(0);
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const [answer] = (await once(get({ port }), 'response')) as [IncomingMessage];
  await once(answer, 'readable');
  answer.destroy();
  await end;
  expect(made).toBeLessThan(MAX_ROWS / 2);
});
