import { constants } from 'node:fs';

/** If a pipe or link replaces the file meanwhile, opening must not wait for the pipe or follow the link. */
export const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
