/** A failed call to a switch. `message` is for staff and logs and never holds a passphrase. */
export class SwitchError extends Error {
  readonly code: SwitchErrorCode;
  /** True when repeating the call cannot help. */
  readonly permanent: boolean;
  /** True when the switch did not answer at all: a job waits for it and uses no attempt up. */
  readonly waits: boolean;
  constructor(code: SwitchErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.permanent = lasting.has(code);
    this.waits = code === 'switch_silent';
  }
}

export type SwitchErrorCode =
  /** A value of the call has no meaning here: an address, a MAC, a VLAN. */
  | 'spec_invalid'
  /** The engine, or this switch, has no such ability; see `capabilities`. */
  | 'not_supported'
  /** It did not answer in time. */
  | 'switch_silent'
  /** It answers and does not let us in. */
  | 'sign_in_refused'
  /** It answered that it does not do this, and why. */
  | 'switch_refused'
  /** What it answers is not what a switch says, or more than one would, or nobody knows who said it. */
  | 'answer_invalid'
  /** It said that it did it, and it is not so. */
  | 'nothing_happened'
  /** It has no such port. */
  | 'port_absent';

const lasting: ReadonlySet<SwitchErrorCode> = new Set([
  'spec_invalid',
  'not_supported',
  'sign_in_refused',
  'port_absent',
]);
