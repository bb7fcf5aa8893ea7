/** Is told what a job has deleted, after each transaction that deleted something. */
export type NoteGone = (kind: string, count: number) => void;
