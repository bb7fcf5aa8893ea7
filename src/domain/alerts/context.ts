import { formatCount, formatPercentage } from '../text.ts';

/** What an alert says of its occurrence, by its type (`AlertContext` in openapi/v1.yaml). A former version may have written it. */
export type AlertContext = Readonly<Record<string, unknown>>;

export function isContext(value: unknown): value is AlertContext {
  return typeof value === 'object' && value !== null;
}

export function formatRate(value: unknown): string {
  return typeof value === 'number' ? formatPercentage(value) : '?';
}

export function formatNumber(value: unknown): string {
  return typeof value === 'number' ? formatCount(value) : '?';
}
