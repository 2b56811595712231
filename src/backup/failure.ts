/** A backup or restore that is refused or failed; the message says what to do. */
export class BackupError extends Error {}
