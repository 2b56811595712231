/**
 * Registers of VAT ids: whether anybody has one. Rules every driver keeps:
 * - `check` can be repeated and changes nothing.
 * - Unavailable is not invalid: what cannot be told is a failure, and never the answer that an id is invalid.
 * - It answers or fails within a deadline of its own, however slow the register is.
 * - Failures are `VatError`s; `permanent` says whether trying again can help.
 */
export interface VatRegister {
  /** Which engine this is: `vies`, `none`. */
  readonly kind: string;
  /** What it can; conformance holds it to this. */
  readonly capabilities: readonly VatCapability[];
  /**
   * Whether a VAT id with its country in front, such as `DE136695976`, is in the register. `requester` is the VAT id of
   * who asks, which some registers want before they number the answer.
   */
  check(vatId: string, requester: string | null): Promise<VatAnswer>;
}

/** `answers`: there is a register. `consultation`: it numbers its answers for a requester that it knows, as a proof. */
export type VatCapability = 'answers' | 'consultation';

export interface VatAnswer {
  valid: boolean;
  /** Proves to a tax office that the question was asked. */
  consultationNumber: string | null;
  /** Whose id it is, where the register tells. */
  name: string | null;
  address: string | null;
}

export type VatErrorCode =
  /** Not in the form of a VAT id. */
  | 'vat_id_malformed'
  /** There is no register to ask; see `capabilities`. */
  | 'not_supported'
  /** The register does not answer this: for now, or until the provider's own VAT id is mended. */
  | 'register_refused'
  /** The register cannot be reached in time, or what answers is no register. */
  | 'register_unreachable';

/** A failed call. `message` is for staff and logs. */
export class VatError extends Error {
  readonly code: VatErrorCode;
  /** True when repeating the call cannot help. */
  readonly permanent: boolean;
  constructor(code: VatErrorCode, message: string, options: { permanent?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.permanent = options.permanent ?? false;
  }
}

/** The country's letters and the rest of an id; `vat_id_malformed` when it has no such parts. */
export function splitVatId(vatId: string): { country: string; number: string } {
  const match = /^([A-Z]{2})([0-9A-Z+*]{2,12})$/.exec(vatId);
  if (match) return { country: match[1] ?? '', number: match[2] ?? '' };
  throw new VatError('vat_id_malformed', 'not a VAT id with its country in front', { permanent: true });
}
