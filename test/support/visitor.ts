import request from 'supertest';
import { onTestFinished, vi } from 'vitest';
import { hashPassword } from '../../src/domain/access/password.ts';
import { toInstant } from '../../src/domain/instant.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { insertSession, type Proof } from '../../src/store/people/sessions.ts';
import { type Api, serveApi } from './api.ts';
import { aBareAccount, NOW } from './builders.ts';

export const PASSWORD = 'plumb lines are straight';
/** The hash of PASSWORD, made once because hashing is slow. */
const passwordHash = hashPassword(PASSWORD);

export const KEYS = '/settings/integrations/api-keys';

type Headers = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, string>>;

export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The page as it was received. */
  readonly text: string;
}

let count = 0;

/** A person of an account, with a password. */
export async function aPerson(
  { db }: Pick<Api, 'db'>,
  accountId: string,
  email = `person-${++count}@example.com`,
): Promise<{ readonly id: string; readonly email: string }> {
  const person = { accountId, email, passwordHash: await passwordHash, now: NOW };
  const { id } = await insertPerson(db, person);
  return { id, email };
}

/** A simple browser: keeps the cookie, and sends forms with the page's hidden fields. */
export class Browser {
  readonly #origin: string;
  cookie = '';
  formToken = '';

  constructor({ port }: Pick<Api, 'port'>) {
    this.#origin = `http://127.0.0.1:${port}`;
  }

  async get(path: string, headers: Headers = {}): Promise<PageAnswer> {
    return this.#keep(await request(this.#origin).get(path).set(this.#headers(headers)));
  }

  /** A file of any kind. */
  async download(path: string): Promise<PageAnswer & { readonly bytes: Buffer }> {
    const answer = await request(this.#origin)
      .get(path)
      .set(this.#headers({}))
      .buffer(true)
      .parse(toBytes);
    const { status, headers, body: bytes } = answer;
    return { status, headers, bytes, text: bytes.toString() };
  }

  /** Sends a form of ours; `headers` replaces the origin that the browser sends. */
  async post(
    path: string,
    fields: Fields = {},
    headers: Headers = { 'Sec-Fetch-Site': 'same-origin' },
  ): Promise<PageAnswer> {
    const form = { form_token: this.formToken, ...fields };
    return this.#keep(
      await request(this.#origin).post(path).set(this.#headers(headers)).type('form').send(form),
    );
  }

  /** Sends the form that the account's page has for files. A text stands for the body as it is sent. */
  async upload(
    files: Readonly<Record<string, Uint8Array | string>> | string,
    { token = this.formToken, type = '' } = {},
  ): Promise<PageAnswer> {
    const form = new FormData();
    for (const [name, content] of Object.entries(typeof files === 'string' ? {} : files))
      form.append('files', new Blob([new Uint8Array(Buffer.from(content))]), name);
    const answer = await fetch(`${this.#origin}/settings/account/uploads?form_token=${token}`, {
      method: 'POST',
      body: typeof files === 'string' ? files : form,
      headers: { Origin: this.#origin, Cookie: this.cookie, ...(type && { 'Content-Type': type }) },
      redirect: 'manual',
    });
    const { status, headers } = answer;
    return { status, headers: Object.fromEntries(headers), text: await answer.text() };
  }

  async signIn(email: string, password = PASSWORD): Promise<PageAnswer> {
    const answer = await this.post('/settings/sign-in', { email, password, next: '' });
    if (answer.status === 303) await this.get('/settings/account');
    return answer;
  }

  #headers(headers: Headers): Headers {
    return this.cookie === '' ? headers : { ...headers, Cookie: this.cookie };
  }

  #keep({ status, headers, text }: request.Response): PageAnswer {
    const cookies = (headers['set-cookie'] ?? []) as unknown as readonly string[];
    for (const cookie of cookies) this.cookie = cookie.split(';')[0] ?? '';
    this.formToken = /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? this.formToken;
    return { status, headers, text };
  }
}

function toBytes(response: unknown, done: (error: Error | null, body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  const stream = response as NodeJS.ReadableStream;
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => done(null, Buffer.concat(chunks)));
}

/** A person of an account, signed in. */
export async function aVisitor(api: Api, accountId: string, email?: string) {
  const person = await aPerson(api, accountId, email);
  const browser = new Browser(api);
  await browser.signIn(person.email);
  return { ...person, browser };
}

/** An account with a person who is signed in, at noon of 15 March 2026, until the test is over. */
export async function onTestDay() {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  vi.setSystemTime(new Date('2026-03-15T12:00:00Z'));
  const api = await serveApi();
  const accountId = await aBareAccount(api.db);
  const { browser } = await aVisitor(api, accountId);
  return { api, accountId, browser };
}

/** A person of an account with an open session, without the time that checking a password takes. */
export async function aSignedIn(api: Api, accountId: string) {
  const person = await aPerson(api, accountId);
  return { ...person, browser: await openFor(api, person.id) };
}

/** Opens a session for a person in a browser, as a right password and code would. */
export async function openFor(
  api: Api,
  personId: string,
  { proof }: { proof?: Proof } = {},
): Promise<Browser> {
  const browser = new Browser(api);
  const known = { password_hash: await passwordHash };
  const session = { personId, proof: proof ?? known, isFactorDone: true, address: '192.0.2.1' };
  const now = toInstant(new Date());
  const token = await insertSession(api.db, { ...session, userAgent: '', now });
  browser.cookie = `plumbline-session=${token}`;
  await browser.get('/settings/second-factor');
  return browser;
}

/** A page without its form token, which is another one each time. */
export function withoutToken(text: string | undefined): string | undefined {
  return text?.replaceAll(/form_token" value="[^"]+/g, '');
}

/** The readable text of a page, without markup. */
export function toReadable(text: string): string {
  return text
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ');
}
