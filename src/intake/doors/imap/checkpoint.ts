export interface Checkpoint {
  /** Changes when the server gives new UIDs to the mails (RFC 3501, section 2.3.1.1). */
  readonly uidValidity: string;
  /** Every mail up to this UID is in the inbox, or is left where it is for good. */
  readonly read: number;
  /** Every mail up to this UID has been moved or flagged, or is left where it is for good. */
  readonly filed: number;
}

export function toCheckpointText(mailbox: string, checkpoint: Checkpoint): string {
  return JSON.stringify({ mailbox, ...checkpoint });
}

/** The checkpoint of this mailbox with these UIDs. Without one the reading starts at the beginning. */
export function parseCheckpoint(
  text: string | undefined,
  { mailbox, uidValidity }: { readonly mailbox: string; readonly uidValidity: string },
): Checkpoint {
  const stored = text === undefined ? {} : (JSON.parse(text) as Record<string, unknown>);
  const isSame = stored['mailbox'] === mailbox && stored['uidValidity'] === uidValidity;
  const { read, filed } = stored;
  return isSame && typeof read === 'number' && typeof filed === 'number'
    ? { uidValidity, read, filed }
    : { uidValidity, read: 0, filed: 0 };
}
