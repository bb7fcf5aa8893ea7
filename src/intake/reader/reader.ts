import { type IntakeDocument, readDocuments } from '../documents.ts';

/** A document, and the index of its source in the request. */
export interface FoundDocument {
  readonly index: number;
  readonly document: IntakeDocument;
}

/** Reads the documents in sources. Implementations differ in where untrusted bytes are read. */
export interface DocumentReader {
  /**
   * Every document of each source, source after source, at least one of each. Never throws because of the
   * bytes' content. `nowMs` is the time of receipt, in milliseconds.
   */
  read(sources: readonly Uint8Array[], nowMs: number): AsyncIterable<FoundDocument>;
}

/** Reads in this process: for trusted bytes, such as the demo's. */
export const ownReader: DocumentReader = {
  async *read(sources, nowMs) {
    for (const [index, bytes] of sources.entries())
      for await (const document of readDocuments({ name: '', bytes }, () => nowMs))
        yield { index, document };
  },
};
