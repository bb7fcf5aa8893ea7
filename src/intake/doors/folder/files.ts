import {
  closeSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { link, lstat, open, rename, statfs, unlink } from 'node:fs/promises';

/** What the door of a folder does with files. */
export interface Files {
  readonly lstat: (path: Buffer) => Promise<Stats>;
  readonly open: (path: Buffer, flags: number | string) => Promise<OpenFile>;
  readonly link: (path: Buffer, to: Buffer) => Promise<void>;
  readonly rename: (path: Buffer, to: Buffer) => Promise<void>;
  readonly unlink: (path: Buffer) => Promise<void>;
}

export interface OpenFile {
  readonly fd: number;
  readonly stat: () => Promise<Stats>;
  readonly read: (
    buffer: Buffer,
    ...[offset, length, position]: readonly [number, number, number]
  ) => Promise<{ readonly bytesRead: number }>;
  readonly close: () => Promise<void>;
}

/** These use the thread pool: a server of files may not answer for a long time, and all else goes on. */
export const pooledFiles: Files = { lstat, open, link, rename, unlink };

/**
 * These wait for the disk: a call by the thread pool costs several times as much CPU, and a mail needs ten.
 *
 * @internal Tests move files by both.
 */
export const directFiles: Files = {
  lstat: async (path) => lstatSync(path),
  open: async (path, flags) => toOpenFile(openSync(path, flags)),
  link: async (path, to) => linkSync(path, to),
  rename: async (path, to) => renameSync(path, to),
  unlink: async (path) => unlinkSync(path),
};

const toOpenFile = (fd: number): OpenFile => ({
  fd,
  stat: async () => fstatSync(fd),
  read: async (buffer, ...at) => ({ bytesRead: readSync(fd, buffer, ...at) }),
  close: async () => closeSync(fd),
});

/** File systems of a disk or of memory, by the numbers of statfs(2) on Linux. */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

/** Decides how the files of a folder are called. */
export async function chooseFiles(folder: Buffer): Promise<Files> {
  const isLocal = process.platform === 'linux' && LOCAL.has((await statfs(folder)).type);
  return isLocal ? directFiles : pooledFiles;
}
