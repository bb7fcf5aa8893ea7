import { domainToASCII } from 'node:url';

/** `domainToASCII` parses a URL's host. These characters would end the host or be decoded. */
const NOT_IN_A_NAME = /[\s/\\?#@:%[\]]/;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const ALL_DIGITS = /^\d+$/;

/**
 * A domain name as it is stored and compared: lower case, A-labels, no trailing dot (RFC 5890). undefined
 * when the text is not a domain name of at least so many labels.
 */
export function parseDomainName(text: string, minLabels = 2): string | undefined {
  const trimmed = text.trim().replace(/\.$/, '');
  if (NOT_IN_A_NAME.test(trimmed)) return undefined;
  const name = domainToASCII(trimmed).toLowerCase();
  const labels = name.split('.');
  const isName =
    name.length <= 253 &&
    labels.length >= minLabels &&
    labels.every((label) => LABEL.test(label)) &&
    !ALL_DIGITS.test(labels.at(-1) ?? '');
  return isName ? name : undefined;
}

/** A name from its end to its beginning: names below one begin with it then. */
export function reverse(name: string): string {
  return [...name].reverse().join('');
}
