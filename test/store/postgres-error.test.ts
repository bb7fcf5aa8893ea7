import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { isLost, isOfConnection, toPostgresError } from '../../src/store/engine/postgres/errors.ts';

const anError = (code: string, syscall?: string) =>
  Object.assign(new Error('failed'), { code, ...(syscall && { syscall }) });

/** The error of a connection to a socket file that does not exist. */
const refused = () =>
  new Promise<unknown>((resolve) => connect('/nowhere/at/all').on('error', resolve));

test('a certificate that is not trusted named an option of Node', () => {
  const error = Object.assign(new Error('self-signed certificate; try --use-system-ca'), {
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  });
  expect(toPostgresError('postgres://plumbline@db.example.com/plumbline', error)).toMatchObject({
    message: expect.stringMatching(/^(?!.*--use-system-ca).*sslrootcert in the URL/),
  });
});

describe('a lost connection', () => {
  test.each([
    ['a reset', anError('ECONNRESET', 'read')],
    ['a write to a closed one', anError('EPIPE', 'write')],
    ['a reset before TLS was agreed', anError('ECONNRESET')],
    ['a host that does not answer', anError('ETIMEDOUT', 'connect')],
    ['a name that is not known', anError('ENOTFOUND', 'getaddrinfo')],
    ['a certificate', anError('DEPTH_ZERO_SELF_SIGNED_CERT')],
    ['an end by the server', anError('57P01')],
  ])('is %s', (_, error) => {
    expect([isLost(error), isOfConnection(error)]).toEqual([true, true]);
  });

  test('is a socket file that is not there', async () => {
    expect(isLost(await refused())).toBe(true);
  });

  test('is not a file that is not there', async () => {
    const error = await readFile('/nowhere/at/all').catch((error: unknown) => error);
    expect([isLost(error), isOfConnection(error)]).toEqual([false, false]);
  });

  test.each([
    ['a full disk', anError('ENOSPC', 'write')],
    ['too many open files', anError('EMFILE', 'open')],
    ['a folder that is read', anError('EISDIR', 'read')],
    ['a program that does not start', anError('ENOENT', 'spawn node')],
    ['DNS that does not answer', anError('ECONNREFUSED', 'queryTxt')],
    ['a defect', new TypeError('undefined is not a function')],
  ])('is not %s', (_, error) => {
    expect([isLost(error), isOfConnection(error)]).toEqual([false, false]);
  });
});
