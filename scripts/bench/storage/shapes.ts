/** Whose reports a database holds. */
export interface Shape {
  readonly accounts: number;
  readonly domains: number;
  /** Reports that a domain gets on a day, each of another reporter. */
  readonly reporters: number;
  readonly records: number;
}

/**
 * The last two are for pages of sources: of some 20 addresses a day, and of more than the 1,000 of a day that are kept
 * one by one.
 */
export const SHAPES = {
  domain: { accounts: 1, domains: 1, reporters: 183, records: 10 },
  domains: { accounts: 5_000, domains: 5_000, reporters: 4, records: 10 },
  account: { accounts: 1, domains: 5_000, reporters: 4, records: 10 },
  usual: { accounts: 1, domains: 1, reporters: 4, records: 10 },
  heavy: { accounts: 1, domains: 1, reporters: 1, records: 1_200 },
} as const satisfies Readonly<Record<string, Shape>>;

export type ShapeName = keyof typeof SHAPES;

/** Three years. More reports than a domain gets in that time come from more reporters. */
const MAX_DAYS = 1_095;

/** `day` counts from the first day. */
export type MadeReport = Readonly<ReturnType<typeof toMadeReport>>;

/**
 * The report with this number, from 0, in the order of arrival: day by day, and each reporter sends those of all
 * domains.
 */
export function toMadeReport({ domains, reporters }: Shape, reports: number, i: number) {
  const ofDay = Math.max(reporters, Math.ceil(reports / domains / MAX_DAYS));
  const round = Math.floor(i / domains);
  return { domain: i % domains, day: Math.floor(round / ofDay), reporter: round % ofDay };
}

export function toDomainName(domain: number): string {
  return `company-${domain}.example`;
}
