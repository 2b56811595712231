/** A failed call to a BMC. `message` is for staff and logs and never holds a password. */
export class BmcError extends Error {
  readonly code: BmcErrorCode;
  /** True when repeating the call cannot help. */
  readonly permanent: boolean;
  /** True when the BMC did not answer at all: a job waits for it and uses no attempt up. */
  readonly waits: boolean;
  /** False when others of this process asked it for as long as there was time: then the failure says nothing about it. */
  readonly wasAsked: boolean;
  constructor(code: BmcErrorCode, message: string, options: { cause?: unknown; wasAsked?: boolean } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.wasAsked = options.wasAsked ?? true;
    this.permanent = lasting.has(code);
    this.waits = code === 'bmc_silent';
  }
}

export type BmcErrorCode =
  /** A value of the call has no meaning here: an address, an account, a password that is too long. */
  | 'spec_invalid'
  /** The engine, or this BMC, has no such ability; see `capabilities`. */
  | 'not_supported'
  /** The program that speaks to BMCs is not installed on this host. */
  | 'program_absent'
  /** It did not answer in time. What was asked may have happened: the same call again ends well. */
  | 'bmc_silent'
  /** It answers and does not let us in: our password is no longer its password, or another BMC stands there. */
  | 'sign_in_refused'
  /** Another one than was enrolled answers at its address. Nothing was changed. */
  | 'other_bmc'
  /** It answered that it does not do this, and why. */
  | 'bmc_refused'
  /** What it answers is not what a BMC says, or more than one would. */
  | 'answer_invalid'
  /** It said that it did it, and it is not so. */
  | 'nothing_happened'
  /** The server did not follow its power button in time; it runs on. */
  | 'shutdown_timeout'
  /** The server is off, and the call wants one that is on. */
  | 'not_running'
  /** It has no such account. */
  | 'account_absent'
  /** It took only the beginning of the password. It is to be set anew, shorter. */
  | 'password_cut'
  /** Somebody else has opened the serial line, or the BMC has ended it. */
  | 'serial_taken';

const lasting: ReadonlySet<BmcErrorCode> = new Set([
  'spec_invalid',
  'not_supported',
  'program_absent',
  'sign_in_refused',
  'other_bmc',
  'account_absent',
  'password_cut',
]);
