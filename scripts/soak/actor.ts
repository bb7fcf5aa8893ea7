import { runPlumbline } from '../served-plumbline.ts';

interface Given {
  readonly urls: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const PASSWORD = 'plumb lines are straight';

/** The actions of operators and people: creates and deletes keys, signs in and out, lists. */
export async function actUntil(
  until: number,
  { urls, environment }: Given,
): Promise<{ readonly count: number; readonly errors: readonly string[] }> {
  const errors: string[] = [];
  let count = 0;
  const run = (args: readonly string[], input?: Uint8Array) =>
    runPlumbline(args, environment, input);
  const account = await run(['account', 'create', 'Actor']);
  const password = Buffer.from(PASSWORD);
  for (let round = 0; Date.now() < until; round += 1) {
    const url = urls[round % urls.length] as string;
    const email = `person-${round}@example.com`;
    const steps: readonly (() => Promise<unknown>)[] = [
      () => run(['user', 'add', account.id, email, '--password-stdin'], password),
      () => signInAndOut(url, email),
      async () => run(['key', 'delete', (await run(['key', 'create', account.id, 'soak'])).id]),
      () => run(['account', 'list']),
      () => run(['key', 'list', account.id]),
    ];
    for (const step of steps) {
      count += 1;
      await step().catch((error: Error) => errors.push(error.message));
    }
  }
  return { count, errors };
}

async function signInAndOut(url: string, email: string): Promise<void> {
  const signedIn = await post(`${url}/settings/sign-in`, { email, password: PASSWORD }, '');
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  expectStatus(signedIn, 303);
  const page = await fetch(`${url}/settings/overview`, { headers: { cookie } });
  expectStatus(page, 200);
  const formToken = /name="form_token" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const out = await post(`${url}/settings/sign-out`, { form_token: formToken }, cookie);
  expectStatus(out, 303);
  const after = await fetch(`${url}/settings/overview`, {
    headers: { cookie },
    redirect: 'manual',
  });
  expectStatus(after, 303);
}

function post(url: string, fields: Readonly<Record<string, string>>, cookie: string) {
  return fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(fields),
  });
}

function expectStatus(response: Response, status: number): void {
  if (response.status === status) return;
  throw new Error(`${new URL(response.url).pathname} answered ${response.status}, not ${status}`);
}
