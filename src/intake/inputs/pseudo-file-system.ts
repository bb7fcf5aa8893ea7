import { constants, type Stats, statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

/**
 * File systems of Linux whose files are views of the kernel: their sizes are wrong, they may have no end, and they
 * contain secrets (`/proc/self/environ`). By the numbers of statfs(2).
 */
const PSEUDO: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x73636673, // securityfs
  0x62656570, // configfs
  0x1cd1, // devpts
  0xcafe4a11, // bpf
  0x6165676c, // pstore
  0xde5e81e4, // efivarfs
  0xf97cff8c, // selinuxfs
  0x19800202, // mqueue
  0x42494e4d, // binfmt_misc
  0x6e736673, // nsfs
]);

/** If a pipe or link replaces the file meanwhile, opening must not wait for the pipe or follow the link. */
export const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

const isLinux = process.platform === 'linux';
/** The answer for each device number, so that each file system is queried once. */
const byDevice = new Map<number, boolean>();

export function isPseudo(file: number, { dev }: Pick<Stats, 'dev'>): boolean {
  if (!isLinux) return false;
  const known = byDevice.get(dev);
  if (known !== undefined) return known;
  const answer = PSEUDO.has(statfsSync(`/proc/self/fd/${file}`).type);
  byDevice.set(dev, answer);
  return answer;
}

export async function isPseudoFolder(path: string | Buffer): Promise<boolean> {
  return isLinux && PSEUDO.has((await statfs(path)).type);
}
