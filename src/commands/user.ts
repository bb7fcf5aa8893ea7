import { isIPv6 } from 'node:net';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Argument, type Command, Option } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import { hashPassword } from '../domain/access/password.ts';
import type { Role } from '../domain/access/person.ts';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import { findPersonId } from '../store/domains/find-by-name.ts';
import type { Db } from '../store/engine/database.ts';
import { insertPerson, invitePerson } from '../store/people/new-people.ts';
import { insertOneTimeLink } from '../store/people/passwords.ts';
import { listPeople, type Person } from '../store/people/people.ts';
import { deletePerson, updateDisabled, updateRole } from '../store/people/person-changes.ts';
import { resetSecondFactor } from '../store/people/second-factors.ts';
import {
  type Flags,
  hint,
  type OutputOptions,
  printList,
  printOne,
  tell,
} from './output/output.ts';
import { withAccount, withStore } from './with-store.ts';

type AddOptions = Flags<'passwordStdin' | 'invite'> & { readonly role?: Role };

const ROLES = ['owner', 'member'] as const satisfies readonly Role[];

export function define(user: Command): void {
  user
    .command('add <account> <email>')
    .description('Add a person. Their password is asked for, unless they are invited.')
    .option('--password-stdin', 'read the password from standard input')
    .addOption(
      new Option('--invite', 'print a link with which the person chooses one').conflicts(
        'passwordStdin',
      ),
    )
    .addOption(new Option('--role <role>', 'owners manage the account’s people').choices(ROLES))
    .action(addUser);

  user
    .command('list <account>')
    .description('List an account’s people.')
    .action(async (account: string, options: OutputOptions) => {
      const people = await withAccount(account, listPeople);
      const none = 'The account has no people yet: plumbline user add <account> <email>';
      printList(people.map(toOutput), { none, toColumns }, options);
    });

  user
    .command('reset <user>')
    .description(
      'Print a link with which the person chooses a new password, once, within 24 hours.',
    )
    .action(async (user: string, options: OutputOptions) => {
      const reset = await withPerson(user, async (db, id) => {
        const token = await insertOneTimeLink(db, id, toInstant(new Date()));
        return { id, link: toLink(token) };
      });
      printOne(reset, options);
      tellOfLink(options);
    });

  user
    .command('role <user>')
    .addArgument(new Argument('<role>').choices(ROLES))
    .description('Make a person an owner of their account, or a member.')
    .action((user: string, role: Role, options: OutputOptions) =>
      changePerson(user, options, (db, id) => updateRole(db, id, role)),
    );

  user
    .command('reset-second-factor <user>')
    .description('Take a person’s second factor away, and end their sessions.')
    .action(async (user: string, options: OutputOptions) => {
      const reset = await withPerson(user, async (db, id) => ({
        id,
        was_on: await resetSecondFactor(db, id),
      }));
      printOne(reset, options);
    });

  user
    .command('delete <user>')
    .description(
      'Delete a person who has neither a password nor single sign-on. The e-mail address is free again.',
    )
    .option('--force', 'also a person who has: the audit goes on to name the e-mail address')
    .action((user: string, { force: isForced = false, ...options }: Flags<'force'>) =>
      changePerson(user, options, async (db, id) => {
        const deleting = deletePerson(db, id, undefined, { isForced });
        return isForced ? await deleting : await deleting.catch(withHint(FORCE_DELETING));
      }),
    );

  user
    .command('disable <user>')
    .description('End all of a person’s sessions, and reject their sign-in.')
    .option('--force', 'also the only owner: nobody then manages the account’s people')
    .action((user: string, { force = false, ...options }: Flags<'force'>) =>
      changePerson(user, options, (db, id) => {
        const disabling = updateDisabled(db, id, true, undefined, { keepsOwner: !force });
        return disabling.catch(withHint(FORCE_DISABLING));
      }),
    );

  user
    .command('enable <user>')
    .description('Let a person sign in again.')
    .action((user: string, options: OutputOptions) =>
      changePerson(user, options, (db, id) => updateDisabled(db, id, false)),
    );
}

function withPerson<T>(user: string, work: (db: Db, personId: string) => Promise<T>): Promise<T> {
  return withStore(async ({ db }) => work(db, await findPersonId(db, user)));
}

async function changePerson(
  user: string,
  options: OutputOptions,
  change: (db: Db, personId: string) => Promise<Person>,
): Promise<void> {
  printOne(toOutput(await withPerson(user, change)), options);
}

/** The account is looked up first: a wrong one is reported before a password is typed. */
async function addUser(account: string, email: string, options: AddOptions): Promise<void> {
  await withAccount(account, async (db, accountId) => {
    const passwordHash = options.invite
      ? null
      : await hashPassword(await readNewPassword(options.passwordStdin === true));
    const now = toInstant(new Date());
    const person = { accountId, email, now, role: options.role };
    if (passwordHash !== null)
      return printOne(toOutput(await insertPerson(db, { ...person, passwordHash })), options);
    const { token, ...invited } = await invitePerson(db, person);
    printOne({ ...toOutput(invited), link: toLink(token) }, options);
  });
  if (options.invite) tellOfLink(options);
}

async function readNewPassword(isFromStdin: boolean): Promise<string> {
  if (isFromStdin) return (await text(process.stdin)).replace(/\r?\n$/, '');
  if (!process.stdin.isTTY)
    throw new Failure(
      'validation_error',
      'There is no terminal to ask for a password: use --password-stdin or --invite.',
    );
  const password = await ask('Password: ');
  if ((await ask('The same again: ')) !== password)
    throw new Failure('validation_error', 'The two passwords are not the same.');
  return password;
}

/** Asks on the terminal, and does not show what is typed. */
async function ask(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  process.stderr.write(question);
  try {
    return await lines.question('');
  } finally {
    lines.close();
    tell('');
  }
}

const FORCE_DELETING =
  'With --force, a person who has a password or uses single sign-on is deleted too.';
const FORCE_DISABLING =
  'See plumbline user role. With --force, the account is left without an owner.';

function withHint(hint: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Failure) || error.code !== 'conflict') throw error;
    throw new Failure('conflict', `${error.message} ${hint}`);
  };
}

function toLink(token: string): string {
  return `${toBaseUrl(readConfig(process.env))}/settings/welcome?link=${token}`;
}

/** The address that people use, or where a server with this configuration listens. */
function toBaseUrl({ baseUrl, host, port }: Config): string {
  if (baseUrl !== undefined) return baseUrl;
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

function tellOfLink(options: OutputOptions): void {
  const warning =
    '\nThe link works once, within 24 hours. Anyone who has it can sign in: send it to this person only.';
  if (!options.json) hint(warning, options);
  const config = readConfig(process.env);
  if (config.baseUrl === undefined)
    tell(
      `Warning: the link begins with ${toBaseUrl(config)}, where the server listens, and may not work for this person. ` +
        'Set PLUMBLINE_BASE_URL to the address that people use.',
    );
}

function toOutput({ id, email, role, isDisabled: disabled, ...person }: Person) {
  const { hasPassword: has_password, createdAt: created_at } = person;
  return { id, email, role, disabled, has_password, created_at };
}

function toColumns({ id, email, role, disabled, has_password }: ReturnType<typeof toOutput>) {
  return { id, email, role, disabled, password: has_password };
}
