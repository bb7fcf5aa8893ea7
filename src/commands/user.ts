import { isIPv6 } from 'node:net';
import { type Command, Option } from 'commander';
import { type Config, readConfig } from '../config.ts';
import { toInstant } from '../domain/instant.ts';
import { hashPassword } from '../domain/password.ts';
import type { Db } from '../store/connection/database.ts';
import {
  insertOneTimeLink,
  insertPerson,
  listPeople,
  type Person,
  updateDisabled,
} from '../store/people/people.ts';
import { type OutputOptions, printList, printOne, tell } from './output.ts';
import { readNewPassword } from './password.ts';
import { withStore } from './with-store.ts';

interface AddOptions extends OutputOptions {
  readonly passwordStdin?: boolean;
  readonly invite?: boolean;
}

export function addUserCommands(user: Command): void {
  user
    .command('add <account-id> <email>')
    .description('Add a person. Their password is asked for, unless they are invited.')
    .addOption(new Option('--password-stdin', 'read the password from standard input'))
    .addOption(
      new Option('--invite', 'print a link with which the person chooses one').conflicts(
        'passwordStdin',
      ),
    )
    .action(addUser);

  user
    .command('list <account-id>')
    .description('List an account’s people.')
    .action(async (accountId: string, options: OutputOptions) => {
      const people = await withStore(({ db }) => listPeople(db, accountId));
      const none = 'The account has no people yet: plumbline user add <account-id> <email>';
      printList(people.map(toOutput), none, options);
    });

  user
    .command('reset <user-id>')
    .description(
      'Print a link with which the person chooses a new password, once, within 24 hours.',
    )
    .action(async (id: string, options: OutputOptions) => {
      printOne({ id, link: await withStore(({ db }) => createLink(db, id)) }, options);
      if (!options.json) tellOfLink();
    });

  addSwitch(user, 'disable', 'End all of a person’s sessions, and reject their sign-in.', true);
  addSwitch(user, 'enable', 'Let a person sign in again.', false);
}

async function addUser(accountId: string, email: string, options: AddOptions): Promise<void> {
  const passwordHash = options.invite
    ? null
    : await hashPassword(await readNewPassword(options.passwordStdin === true));
  const now = toInstant(new Date());
  await withStore(async ({ db }) => {
    const person = await insertPerson(db, { accountId, email, passwordHash, now });
    const link = options.invite ? { link: await createLink(db, person.id) } : {};
    printOne({ ...toOutput(person), ...link }, options);
  });
  if (options.invite && !options.json) tellOfLink();
}

function addSwitch(user: Command, verb: string, description: string, isDisabled: boolean): void {
  user
    .command(`${verb} <user-id>`)
    .description(description)
    .action(async (id: string, options: OutputOptions) => {
      printOne(toOutput(await withStore(({ db }) => updateDisabled(db, id, isDisabled))), options);
    });
}

async function createLink(db: Db, personId: string): Promise<string> {
  const token = await insertOneTimeLink(db, personId, toInstant(new Date()));
  return `${toBaseUrl(readConfig(process.env))}/settings/welcome?link=${token}`;
}

function toBaseUrl({ baseUrl, host, port }: Config): string {
  return baseUrl ?? `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function tellOfLink(): void {
  tell(
    '\nThe link works once, within 24 hours. Anyone who has it can sign in: send it to this person only.',
  );
}

function toOutput({ id, email, isDisabled, hasPassword, createdAt }: Person) {
  return {
    id,
    email,
    disabled: isDisabled,
    has_password: hasPassword,
    created_at: createdAt,
  };
}
