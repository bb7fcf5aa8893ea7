/*
 * The names of files are bytes, which need not be UTF-8. A byte path has one character for each byte (Latin-1), so
 * that no name is lost, and the functions of node:path work with it.
 */

export const toBytePath = (text: string): string => Buffer.from(text).toString('latin1');

/** The bytes, as the functions of node:fs take them. */
export const toSystemPath = (path: string): Buffer => Buffer.from(path, 'latin1');

/** The text for people. Bytes that are not UTF-8 are replaced by U+FFFD. */
export const toPathText = (path: string): string => toSystemPath(path).toString();
