/** Why an alert has resolved, for its context. The contract leaves the list open (v1.yaml, AlertResolution). */
export const RESOLUTION_TEXTS = {
  recovered: 'what it was about has ended',
  new_normal: 'it has lasted so long that it counts as normal',
  paused: 'the domain was paused and resumed, and its alerts start again',
  reports_corrected:
    'later reports, a correction or other thresholds have changed the figures, and it would not fire any more',
} as const satisfies Record<string, string>;

export type Resolution = keyof typeof RESOLUTION_TEXTS;

export function isResolution(value: unknown): value is Resolution {
  return typeof value === 'string' && Object.hasOwn(RESOLUTION_TEXTS, value);
}
