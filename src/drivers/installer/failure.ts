/** What came from a server, or was to be sent to one, and has no meaning. `message` is for staff and logs and never holds a secret. */
export class InstallerError extends Error {
  readonly code: InstallerErrorCode;
  constructor(code: InstallerErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

export type InstallerErrorCode =
  /** A plan that the installer must not be given: a value in it has no meaning. */
  | 'plan_invalid'
  /** What a server says of itself, or of its work, is not in the form in which it is said. */
  | 'report_invalid';
