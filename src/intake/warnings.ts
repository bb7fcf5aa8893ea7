import type { Warning } from '../domain/reports/aggregate-report.ts';
import type { WarningCode } from '../domain/reports/warning-texts.ts';

/** Where in the XML text: lines from 1, columns from 0, as XML parsers count them. */
export interface XmlLocation {
  readonly line: number;
  readonly column: number;
}

/** The location at the end of a text that begins at a location. */
export function advance({ line, column }: XmlLocation, text: string): XmlLocation {
  const lines = text.split(/\r\n?|\n/);
  const last = lines.at(-1)?.length ?? 0;
  return { line: line + lines.length - 1, column: lines.length === 1 ? column + last : last };
}

export const renderLocation = ({ line, column }: XmlLocation): string =>
  `line ${line}, column ${column}`;

/** The warnings of one document: one entry for each code, so that 100,000 unusual records need one line. */
export class WarningLog {
  readonly #met: Map<WarningCode, Warning>;

  /** Starts with the warnings of the containers: a mail's warnings belong to each of its reports. */
  constructor(inherited?: WarningLog) {
    this.#met = new Map(inherited === undefined ? [] : inherited.#met);
  }

  /** Counts the warning. Its location is only computed the first time. */
  add(code: WarningCode, location?: XmlLocation | (() => XmlLocation)): void {
    const known = this.#met.get(code) ?? { code, count: 0, where: toWhere(location) };
    this.#met.set(code, { ...known, count: known.count + 1 });
  }

  has(code: WarningCode): boolean {
    return this.#met.has(code);
  }

  toList(): readonly Warning[] {
    return [...this.#met.values()];
  }
}

function toWhere(location: XmlLocation | (() => XmlLocation) | undefined): string | null {
  if (location === undefined) return null;
  return renderLocation(typeof location === 'function' ? location() : location);
}
