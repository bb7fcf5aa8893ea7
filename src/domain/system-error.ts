/** Errors of the operating system that a person can do something about, by code. */
const MESSAGES: Readonly<Record<string, string>> = {
  EACCES: 'this user may not access it',
  EPERM: 'this user may not access it',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is a file and not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'there is something with this name already',
  ELOOP: 'it is a symbolic link, or its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the user’s share of the disk is full',
  EMFILE: 'this process has too many files open',
  ENFILE: 'the system has too many files open',
  ENOMEM: 'there is not enough memory',
  EBUSY: 'it is in use',
  EIO: 'the disk reports an error',
  EAGAIN: 'it is not ready to be read',
  ENXIO: 'the device is not there',
  ENODEV: 'the device is not there',
  ETXTBSY: 'it is in use',
  EFBIG: 'it is too large',
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTSUP: 'this system does not do that',
  ENOTFOUND: 'there is no such host',
};

/** The reason of an error of the operating system, as the end of a sentence: `this user may not access it`. */
export function describeSystemError(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return MESSAGES[code] ?? (code === '' ? message : `error ${code}`);
}
