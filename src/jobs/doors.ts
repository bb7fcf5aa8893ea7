import { once } from 'node:events';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { ImapConfig, SmtpConfig } from '../config/mail.ts';
import { Failure } from '../domain/failure.ts';
import type { Deliver, DoorName, Incoming } from '../domain/incoming.ts';
import { describeSystemError } from '../domain/system-error.ts';
import { watchFolder } from '../intake/doors/folder/folder-door.ts';
import type { RunningSmtp } from '../intake/doors/smtp/smtp.ts';
import { findAccountByToken } from '../store/accounts/mail-address.ts';
import type { Store } from '../store/engine/store.ts';
import { findCheckpoint, noteDoor, updateCheckpoint } from '../store/inbox/doors.ts';
import { findResults } from '../store/inbox/mails.ts';
import { createRoom } from '../store/inbox/room.ts';
import type { Leases } from '../store/work/leases.ts';
import { keepRunning, type Running } from '../store/work/running.ts';
import { startExclusiveJob } from './leased-job.ts';

/** How soon a port that could not be listened on is tried again: another process may have it. */
const RETRY_MS = 30_000;
/** How often the state of an open door is noted. */
const NOTE_MS = 60_000;

interface DoorDeps {
  readonly store: Pick<Store, 'db'>;
  readonly log: Logger;
  /** Stores a mail, and wakes the worker of this process. */
  readonly deliver: Deliver;
}

function bindStore({ store: { db }, log, deliver }: DoorDeps) {
  return {
    deliver,
    log,
    now: () => new Date(),
    noteDoor: (door: DoorName, error?: string) => noteDoor(db, door, error),
    findResults: (keys: readonly string[]) => findResults(db, keys),
    findCheckpoint: (door: DoorName) => findCheckpoint(db, door),
    updateCheckpoint: (door: DoorName, text: string) => updateCheckpoint(db, door, text),
    findAccountByToken: (token: string) => findAccountByToken(db, token),
  };
}

/** Takes files from a folder or a Maildir. */
export function startFolderDoor(path: string, done: Config['watchDone'], deps: DoorDeps): Running {
  const warn = (fields: object, message: string) => deps.log.warn(fields, message);
  return watchFolder({ ...bindStore(deps), path, done, warn });
}

/** Reads the mailbox, in one process at a time. */
export function startImapDoor(imap: ImapConfig, deps: DoorDeps & { readonly leases: Leases }) {
  const { leases, log } = deps;
  const read = async (signal: AbortSignal) => {
    const { readMailbox } = await import('../intake/doors/imap/imap.ts');
    await readMailbox(imap, bindStore(deps), signal);
  };
  const { door } = imap;
  const logError = (err: unknown) => log.error({ err, door }, 'the mailbox could not be read');
  return startExclusiveJob(door, read, { leases, logError });
}

/**
 * Every process listens, so each machine can be a mail exchanger. A port or certificate that cannot be used stops
 * nothing else: it is logged, shown on the settings pages, and tried again. A port in use is only logged: another
 * process of this machine has the door, and notes its state.
 */
export function startSmtpDoor(
  smtp: SmtpConfig,
  { noteMs = NOTE_MS, ...deps }: DoorDeps & { readonly noteMs?: number },
): Running {
  const { store, log } = deps;
  const smtpDeps = { ...bindStore(deps), findShortage: createRoom(store.db) };
  const note = (error?: string) =>
    smtpDeps.noteDoor('smtp', error).catch((e: unknown) => log.error(`smtp: ${toText(e)}`));
  return keepRunning((signal) => async () => {
    const { startSmtp } = await import('../intake/doors/smtp/smtp.ts');
    let door: RunningSmtp | undefined;
    const state = watchState(deps.deliver, () => door?.findFault(), { log, note });
    const open = startSmtp(smtp, { ...smtpDeps, deliver: state.deliver });
    door = await open.catch(async (error: NodeJS.ErrnoException) => {
      const text = describeClosed(smtp, error);
      log.error({ door: 'smtp' }, `smtp: ${text}`);
      if (error.code !== 'EADDRINUSE') await note(text);
      return undefined;
    });
    if (door === undefined) return RETRY_MS;
    log.info({ door: 'smtp', port: door.port, name: smtp.name }, 'smtp: the door is open');
    await state.note();
    const noting = setInterval(() => void state.note(), noteMs);
    if (!signal.aborted) await once(signal, 'abort');
    clearInterval(noting);
    await door.stop();
    return RETRY_MS;
  });
}

/**
 * Notes the state of the door, and logs a fault once, when it begins. Why the last mail could not be stored is a fault until
 * one is, or the state is noted anew: what keeps mails from being stored then, keeps the state from being noted, or is a
 * shortage that `listDoors` sees. What changes is noted at once.
 */
function watchState(
  deliver: Deliver,
  findDoorFault: () => string | undefined,
  { log, note: noteFault }: { log: Logger; note: (error?: string) => Promise<void> },
) {
  let storeFault: string | undefined;
  let known: string | undefined;
  const note = async (why?: string) => {
    storeFault = why;
    const fault = findDoorFault() ?? why;
    if (fault !== undefined && fault !== known) log.warn({ door: 'smtp' }, `smtp: ${fault}`);
    known = fault;
    await noteFault(fault);
  };
  return {
    note,
    deliver: async (incoming: Incoming) => {
      try {
        await deliver(incoming);
        if (storeFault !== undefined) void note();
      } catch (error) {
        const isOurs = error instanceof Failure && error.code === 'unavailable';
        if (isOurs && error.message !== storeFault) void note(error.message);
        throw error;
      }
    },
  };
}

const toText = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Why the door is not open. Errors of listening are the system's; any other error is of the certificate. */
function describeClosed({ port }: SmtpConfig, error: NodeJS.ErrnoException): string {
  if (error.syscall === undefined) return `The door is closed. ${error.message}`;
  const cure = error.code === 'EACCES' ? ': ports below 1024 need a permission' : '';
  return `Port ${port} cannot be opened: ${describeSystemError(error)}${cure}.`;
}
