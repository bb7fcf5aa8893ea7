import { advance, type WarningLog, type XmlLocation } from '../warnings.ts';
import { type Decoder, decoderFor } from './decode.ts';
import { repairProlog, TextRepair } from './repair.ts';

/** The receiver of the text. */
interface TextSink {
  /** The place of the next text. */
  readonly place: XmlLocation;
  write(text: string): void;
  end(): void;
}

/** Bytes to text for the parser, piece by piece: decoded, with prolog and text repaired. */
export class XmlText {
  readonly #sink: TextSink;
  readonly #log: WarningLog;
  readonly #decoder: Decoder;
  readonly #repair: TextRepair;
  #isProlog = true;

  constructor(sink: TextSink, { head, log }: { head: Uint8Array; log: WarningLog }) {
    this.#sink = sink;
    this.#log = log;
    this.#decoder = decoderFor(head, log);
    this.#repair = new TextRepair(log, () => sink.place);
  }

  write(bytes: Uint8Array): void {
    this.#pass(this.#decoder.write(bytes));
  }

  end(): void {
    this.#pass(this.#decoder.end());
    this.#sink.write(this.#repair.end());
    this.#sink.end();
  }

  #pass(text: string): void {
    this.#noteUnreadable(text);
    const sound = this.#isProlog ? repairProlog(text, this.#log) : text;
    this.#isProlog = false;
    this.#sink.write(this.#repair.write(sound));
  }

  #noteUnreadable(text: string): void {
    const at = text.indexOf('\uFFFD');
    if (at < 0) return;
    this.#log.add('unreadable_characters', () => advance(this.#sink.place, text.slice(0, at)));
  }
}
