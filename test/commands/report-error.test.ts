import { expect, onTestFinished, test, vi } from 'vitest';
import { reportError } from '../../src/commands/output/report-error.ts';
import { ConfigError } from '../../src/config/variable.ts';
import { Failure } from '../../src/domain/failure.ts';

function report(error: unknown, { json = false } = {}) {
  onTestFinished(() => void vi.restoreAllMocks());
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      printed[stream] += text;
      return true;
    });
  const status = reportError(error, { json });
  vi.restoreAllMocks();
  return { status, ...printed };
}

const systemError = (given: object) => Object.assign(new Error('EXXX: raw text'), given);

test.each([
  [
    { code: 'EADDRINUSE', syscall: 'listen', address: '127.0.0.1', port: 8080 },
    'The server cannot listen on 127.0.0.1 port 8080: the address is in use. Set PLUMBLINE_PORT, or PLUMBLINE_HOST, to serve elsewhere; servers of one user share a port when each of them has PLUMBLINE_SHARE_PORT=on.',
  ],
  [
    { code: 'EACCES', syscall: 'listen', address: '127.0.0.1', port: 80 },
    'The server cannot listen on 127.0.0.1 port 80: this user may not access it. Set PLUMBLINE_PORT, or PLUMBLINE_HOST, to serve elsewhere.',
  ],
  [
    { code: 'ENOTSUP', syscall: 'listen', address: '127.0.0.1', port: 8080 },
    'The server cannot listen on 127.0.0.1 port 8080: this system does not do that. Leave PLUMBLINE_SHARE_PORT out.',
  ],
  [
    { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'nowhere.example' },
    'There is no host nowhere.example (PLUMBLINE_HOST).',
  ],
  [{ code: 'ENOSPC', syscall: 'mkdtemp', path: '/tmp/x' }, '/tmp/x: the disk is full.'],
])('an error of the system is a sentence without its code: %j', (given, sentence) => {
  expect(report(systemError(given))).toEqual({ status: 1, stdout: '', stderr: `${sentence}\n` });
});

test('a wrong configuration ends with 2, an expected error with 1', () => {
  expect(report(new ConfigError('PLUMBLINE_X: no.'))).toMatchObject({ status: 2 });
  expect(report(new Failure('not_found', 'No such thing.'))).toEqual({
    status: 1,
    stdout: '',
    stderr: 'No such thing.\n',
  });
});

test('with --json the error is a value on standard output as well', () => {
  const { stdout } = report(new Failure('not_found', 'No such thing.'), { json: true });
  expect(JSON.parse(stdout)).toEqual({ error: { code: 'not_found', message: 'No such thing.' } });
});

test('a defect is printed with its stack', () => {
  expect(report(new TypeError('x is undefined')).stderr).toMatch(
    /TypeError: x is undefined\n +at /,
  );
});
