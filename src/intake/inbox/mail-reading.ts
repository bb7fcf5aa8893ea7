import { parseEnvelope, toCut, type UploadOutcome } from '../../domain/incoming.ts';
import { domainOf, isTls } from '../../domain/reports/report.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import type { ClaimedMail } from '../../store/inbox/claims.ts';
import type { Done } from '../../store/inbox/results.ts';
import type { IngestedDocument } from '../ingest.ts';

/** A sender can put any number of domains into one mail. Real reports have one. */
const MAX_UNCLAIMED = 3;
/** The documents of an upload of which is kept what became of each. */
const MAX_OUTCOMES = 500;

export class MailReading {
  readonly mail: ClaimedMail;
  /** Domains with new reports, and domains that no account may have. */
  readonly names = { stored: new Set<string>(), unclaimed: new Set<string>() };
  /** Whether all of its documents are stored. */
  isDone = false;
  /** Whether it was given up because it is costly: it is read to its end after the others. */
  isPostponed = false;
  readonly #counts: Partial<Record<IngestedDocument['outcome'], number>> = {};
  #documents = 0;
  /** How often it looks like a report and has none. A door leaves such a mail where it is. */
  #unfound = 0;
  #reason: string | null = null;
  /** Why no document of it is stored: the reason of the only one. */
  #ignored: IngestedDocument | undefined;
  readonly #outcomes: UploadOutcome[] | undefined;

  constructor(mail: ClaimedMail) {
    this.mail = mail;
    this.#outcomes = mail.door === 'upload' ? [] : undefined;
  }

  add(document: IngestedDocument): void {
    const { outcome, refusal } = document;
    const isGivenUp = refusal?.reason === 'too_costly' || refusal?.reason === 'unreadable';
    if (isGivenUp && isFirstTry(this.mail)) this.isPostponed = true;
    this.#documents += 1;
    this.#counts[outcome] = (this.#counts[outcome] ?? 0) + 1;
    if (outcome === 'rejected') this.#reason ??= refusal?.message ?? null;
    if (refusal?.reason === 'none_found') this.#unfound += 1;
    if (outcome === 'ignored') this.#ignored ??= document;
    if (this.#outcomes && this.#outcomes.length < MAX_OUTCOMES)
      this.#outcomes.push(this.#toOutcome(document));
    this.#addName(document);
  }

  #toOutcome({ outcome, member, report, refusal }: IngestedDocument): UploadOutcome {
    return {
      file: toCut(member.join(' > ')),
      outcome: this.#isOwn(outcome) ? 'stored' : outcome,
      domain: report === null ? undefined : domainOf(report),
      // A report about TLS has no page.
      reportId: report === null || isTls(report) ? undefined : toReportId(report),
      message: refusal === null ? undefined : toCut(refusal.message),
    };
  }

  /** A report that was stored before a worker was killed is a duplicate at the next try, and treated as a new one. */
  #isOwn(outcome: IngestedDocument['outcome']): boolean {
    return outcome === 'duplicate' && this.mail.isAgain;
  }

  /** Every mail has at least one document. */
  end(): void {
    this.isDone = this.#documents > 0 && !this.isPostponed;
  }

  #addName({ outcome, report }: IngestedDocument): void {
    if (report === null) return;
    const name = domainOf(report);
    const isAgain = this.#isOwn(outcome);
    if (outcome === 'stored' || isAgain) this.names.stored.add(name);
    const isUnclaimed = outcome === 'unclaimed' || isAgain;
    if (isUnclaimed && this.names.unclaimed.size < MAX_UNCLAIMED) this.names.unclaimed.add(name);
  }

  toDone(): Done {
    const { rejected = 0, ignored = 0 } = this.#counts;
    const reports = this.#documents - rejected - ignored;
    const result = reports > 0 ? 'processed' : rejected > this.#unfound ? 'rejected' : 'ignored';
    const isUnknown = this.#unfound > 0 || this.#ignored?.refusal?.reason === 'no_report';
    return {
      mail: this.mail,
      result,
      counts: this.#counts,
      outcomes: this.#outcomes,
      reason: this.#reason ?? ((result === 'ignored' && this.#ignored?.refusal?.message) || null),
      // What is certainly another kind of mail is not needed again. A later parser may find more in the rest.
      keepsBytes: result === 'ignored' && isUnknown,
    };
  }
}

/** Only then it may be postponed. */
export const isFirstTry = ({ tries }: Pick<ClaimedMail, 'tries'>): boolean => tries === 1;

/** Whether an input with this name came into the inbox. */
export const isMailName = (name: string): boolean => /^mail-\d+ /.test(name);

/** Its number in the inbox makes the name unique in lists of documents; the rest is what a person knows it by. */
export function toInputName(mail: Pick<ClaimedMail, 'seq' | 'door' | 'envelope'>): string {
  const { sender, place } = parseEnvelope(mail.envelope);
  const [kind] = mail.door.split(':', 1);
  const known = place ?? (sender === undefined ? '' : `from ${sender === '' ? '<>' : sender}`);
  return `mail-${mail.seq} ${kind} ${known}`.trimEnd();
}
