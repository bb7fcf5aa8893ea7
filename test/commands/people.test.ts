import { expect, test } from 'vitest';
import { addDays, toDay, toInstant } from '../../src/domain/instant.ts';
import { aProgram } from '../support/program.ts';

const PASSWORD = 'plumb lines are straight';
const NO_SUCH = '00000000-0000-4000-8000-000000000000';

type Row = Readonly<Record<string, unknown>>;

async function aCompany(env: NodeJS.ProcessEnv = {}) {
  const command = aProgram(env);
  const { id: accountId } = await command.json('account', 'create', 'A');
  const add = (email: string, input = `${PASSWORD}\n`) =>
    command.run(['user', 'add', accountId, email, '--password-stdin', '--json'], input);
  return { ...command, accountId, add };
}

test('a person is added with a password from standard input, listed, disabled and enabled', async () => {
  const { accountId, add, json, run } = await aCompany();
  const { stdout, stderr } = await add('Ada@example.com');
  const person = JSON.parse(stdout);
  expect(person).toEqual({
    id: expect.any(String),
    email: 'Ada@example.com',
    role: 'owner',
    disabled: false,
    has_password: true,
    created_at: expect.stringMatching(/Z$/),
  });
  expect(stdout + stderr).not.toContain(PASSWORD);
  const refused = await run(['user', 'disable', person.id]);
  expect([refused.status, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/is the only owner of the account who can sign in\..*--force/s),
  ]);
  expect(await json('user', 'disable', person.id, '--force')).toEqual({
    ...person,
    disabled: true,
  });
  expect(await json('user', 'list', accountId)).toEqual([{ ...person, disabled: true }]);
  expect(await json('user', 'enable', person.id)).toEqual(person);
});

test('invitations and resets print a link with the configured base URL', async () => {
  const { accountId, json, run } = await aCompany({
    PLUMBLINE_BASE_URL: 'https://dmarc.example.com/',
  });
  const invited = await json('user', 'add', accountId, 'ada@example.com', '--invite');
  expect(invited).toMatchObject({ has_password: false });
  const link = /^https:\/\/dmarc\.example\.com\/settings\/welcome\?link=[\w-]{43}$/;
  expect(invited.link).toMatch(link);
  const reset = await json('user', 'reset', invited.id);
  expect(reset.link).toMatch(link);
  expect(reset.link).not.toBe(invited.link);
  const { stderr } = await run(['user', 'reset', invited.id]);
  expect(stderr).toMatch(/works once, within 24 hours/);
  expect(stderr).not.toMatch(/PLUMBLINE_BASE_URL/);
});

test('an invited owner who never accepted is not one in the place of the only owner who can sign in', async () => {
  const { accountId, add, json, run } = await aCompany();
  const { id } = JSON.parse((await add('ada@example.com')).stdout);
  const bob = await json('user', 'add', accountId, 'bob@example.com', '--invite');
  await json('user', 'role', bob.id, 'owner');
  for (const args of [
    ['disable', id],
    ['role', id, 'member'],
    ['delete', id, '--force'],
  ])
    expect(await run(['user', ...args])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(
        'ada@example.com is the only owner of the account who can sign in.',
      ),
    });
  expect(await json('user', 'disable', bob.id)).toMatchObject({ disabled: true });
});

test('a person who never signed in is deleted, anybody else only with --force', async () => {
  const { accountId, add, json, run } = await aCompany();
  const owner = JSON.parse((await add('ada@example.com')).stdout);
  const invited = await json('user', 'add', accountId, 'bob@example.com', '--invite');
  expect(await json('user', 'delete', 'bob@example.com')).toMatchObject({ id: invited.id });
  expect(await json('user', 'list', accountId)).toEqual([owner]);
  const refused = await run(['user', 'delete', owner.id]);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('With --force')]);
  const [entry] = await json('audit', accountId, '--limit', '1');
  expect(entry).toMatchObject({ action: 'person_deleted', subject: 'bob@example.com' });
  const member = JSON.parse((await add('eve@example.com')).stdout);
  const only = await run(['user', 'delete', owner.id, '--force']);
  expect([only.status, only.stderr]).toEqual([1, expect.stringContaining('is the only owner')]);
  expect(await json('user', 'delete', member.id, '--force')).toEqual(member);
  // The address is free for another account.
  const { id: other } = await json('account', 'create', 'B');
  await json('user', 'add', other, 'eve@example.com', '--invite');
  const audit = await json('audit', accountId, '--kind', 'person', '--limit', '2');
  expect(audit.map(({ action, subject }: Row) => [action, subject])).toEqual([
    ['person_deleted', 'eve@example.com'],
    ['person_added', 'eve@example.com'],
  ]);
});

test.each([
  ['a short password', ['user', 'add', 'ACCOUNT', 'a@example.com', '--password-stdin'], 'short', 1],
  ['no terminal for the prompt', ['user', 'add', 'ACCOUNT', 'a@example.com'], '', 1],
  ['no e-mail address', ['user', 'add', 'ACCOUNT', 'ada', '--invite'], '', 1],
  ['an account that does not exist', ['user', 'add', NO_SUCH, 'a@example.com', '--invite'], '', 1],
  ['a person who does not exist', ['user', 'reset', NO_SUCH], '', 1],
  ['a person who does not exist', ['user', 'disable', NO_SUCH], '', 1],
  ['the audit of an unknown account', ['audit', NO_SUCH], '', 1],
  [
    'both ways at the same time',
    ['user', 'add', 'ACCOUNT', 'a@b.example', '--invite', '--password-stdin'],
    '',
    2,
  ],
  ['an invalid limit', ['audit', 'ACCOUNT', '--limit', '0'], '', 2],
] as const)('%s is rejected', async (_what, args, input, status) => {
  const { accountId, run } = await aCompany();
  const given = args.map((arg) => (arg === 'ACCOUNT' ? accountId : arg));
  expect((await run(given, input)).status).toBe(status);
});

test('a link says that it may not work while PLUMBLINE_BASE_URL is not set, and has the configured port', async () => {
  const { accountId, run } = await aCompany({ PLUMBLINE_PORT: '8123', PLUMBLINE_HOST: '0.0.0.0' });
  const invited = await run(['user', 'add', accountId, 'ada@example.com', '--invite']);
  expect(invited.stdout).toContain('http://localhost:8123/settings/welcome?link=');
  expect(invited.stderr).toMatch(/may not work for this person. Set PLUMBLINE_BASE_URL/);
  const reset = await run(['user', 'reset', 'ada@example.com', '--json']);
  expect(JSON.parse(reset.stdout).link).toMatch(/^http:\/\/localhost:8123\//);
  expect(reset.stderr).toMatch(/Set PLUMBLINE_BASE_URL/);
});

test('a wrong account is said before a password is asked for', async () => {
  const { run } = await aCompany();
  const { stderr } = await run(['user', 'add', NO_SUCH, 'a@example.com']);
  expect(stderr).toMatch(/No account has the id or the name/);
});

test('an invalid base URL is reported by name', async () => {
  const { run } = aProgram({ PLUMBLINE_BASE_URL: 'dmarc.example.com' });
  const { status, stderr } = await run(['account', 'list']);
  expect([status, stderr]).toEqual([2, expect.stringContaining('PLUMBLINE_BASE_URL')]);
});

test('changes of keys by operators are in the audit', async () => {
  const { accountId, json, run } = await aCompany();
  expect((await run(['audit', accountId, '--kind', 'key'])).stdout).toMatch(/Nothing was done/);
  const { id, prefix } = await json('key', 'create', accountId, 'nightly');
  await json('key', 'disable', id);
  await json('key', 'enable', id);
  await json('account', 'plan', accountId, 'free');
  await json('key', 'delete', id);
  const entries = await json('audit', accountId, '--kind', 'key');
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    'key_deleted',
    'key_disabled_by_plan',
    'key_enabled',
    'key_disabled',
    'key_created',
  ]);
  expect(entries[0]).toEqual({
    seq: expect.any(Number),
    at: expect.stringMatching(/Z$/),
    actor: 'operator',
    action: 'key_deleted',
    subject: 'nightly',
    detail: prefix,
    address: null,
  });
  expect(await json('audit', accountId, '--limit', '2')).toHaveLength(2);
});

test('roles are changed by the operator, and an account keeps an owner', async () => {
  const { accountId, json, run } = await aCompany();
  await json('user', 'add', accountId, 'ada@example.com', '--invite');
  const bob = await json('user', 'add', accountId, 'bob@example.com', '--invite');
  expect(bob.role).toBe('member');
  expect((await run(['user', 'role', 'ada@example.com', 'member'])).status).toBe(1);
  expect(await json('user', 'role', 'bob@example.com', 'owner')).toMatchObject({ role: 'owner' });
  expect(await json('user', 'role', 'ada@example.com', 'member')).toMatchObject({ role: 'member' });
  const reset = await json('user', 'reset-second-factor', 'bob@example.com');
  expect(reset).toEqual({ id: bob.id, was_on: false });
  const entries = await json('audit', accountId, '--kind', 'person', '--by', 'operator');
  expect(entries.map(({ action, detail }: Record<string, string>) => [action, detail])).toEqual([
    ['person_role_changed', 'member'],
    ['person_role_changed', 'owner'],
    ['person_invited', 'member'],
    ['person_invited', 'owner'],
  ]);
  expect(await json('audit', accountId, '--until', '2020-01-01')).toEqual([]);
  expect(
    await json('audit', accountId, '--before', String(entries[2].seq), '--limit', '1'),
  ).toEqual([entries[3]]);
});

test('a key expires when the operator says so', async () => {
  const { accountId, json, run } = await aCompany();
  const { expires_at } = await json('key', 'create', accountId, 'x', '--expires', '30d');
  const days = (Date.parse(expires_at) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
  expect((await run(['key', 'create', accountId, 'x', '--expires', '2020-01-01'])).status).toBe(1);
  expect((await run(['key', 'list', accountId])).stdout).toContain(expires_at.slice(0, 10));
});

test('a key whose last day the operator names is listed with that day, not with the next one', async () => {
  const { accountId, json, run } = await aCompany();
  const day = addDays(toDay(toInstant(new Date())), 9);
  const { expires_at } = await json('key', 'create', accountId, 'x', '--expires', day);
  expect(expires_at).toBe(`${addDays(day, 1)}T00:00:00Z`);
  const { stdout } = await run(['key', 'list', accountId]);
  expect([stdout.includes(day), stdout.includes(addDays(day, 1))]).toEqual([true, false]);
});

test('the operator requires a second factor, where one can be set up, and lifts that again', async () => {
  const { accountId, json, run } = await aCompany();
  const demand = (text: string) => json('account', 'second-factor', accountId, text);
  expect(await demand('required')).toEqual({ id: accountId, second_factor: 'required' });
  expect(await demand('optional')).toEqual({ id: accountId, second_factor: 'optional' });
  const entries = await json('audit', accountId, '--kind', 'account', '--by', 'operator');
  expect(entries.map(({ action }: Record<string, string>) => action)).toEqual([
    'second_factor_optional',
    'second_factor_required',
    'account_created',
  ]);
  expect((await run(['account', 'second-factor', accountId, 'never'])).status).not.toBe(0);
});

test('what nobody can set up is not required', async () => {
  const { run } = aProgram({ PLUMBLINE_DATABASE: 'postgres://db.example.com/plumbline' });
  const { status, stderr } = await run(['account', 'second-factor', 'A', 'required']);
  expect([status, stderr]).toEqual([1, expect.stringContaining('PLUMBLINE_SECRETS_KEY_FILE')]);
});
