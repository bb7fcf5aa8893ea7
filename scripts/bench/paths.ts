/** What a load asks for, request after request. */
export interface Paths {
  readonly kind: 'same' | 'random' | 'walk';
  /** The whole path; for other kinds, everything up to the offset. */
  readonly path: string;
  /** Offsets are below it. */
  readonly below: number;
  /** How far a walk goes with each request. */
  readonly step: number;
}

export interface Load {
  readonly paths: Paths;
  readonly headers: Readonly<Record<string, string>>;
}
