/** A part of a URL without its percent-encoding; undefined for a broken encoding. */
export function decodeUrlPart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
