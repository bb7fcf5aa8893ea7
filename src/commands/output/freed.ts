import { hint, type OutputOptions } from './output.ts';

/** After much was deleted: by how many bytes the file is smaller. */
export function tellOfSpace(fileBytes: number, options: OutputOptions): void {
  hint(`The file is ${toMb(fileBytes)} smaller. What is free in it is used again.`, options);
}

export function toMb(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}
