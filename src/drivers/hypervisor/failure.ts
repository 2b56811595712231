/** A failed driver call. `message` is for staff and logs and never holds a secret. */
export class HypervisorError extends Error {
  readonly code: HypervisorErrorCode;
  /** True when repeating the call cannot help. */
  readonly permanent: boolean;
  /** True when the engine could not be reached: a job waits for it and uses no attempt up. */
  readonly waits: boolean;
  constructor(
    code: HypervisorErrorCode,
    message: string,
    options: { permanent?: boolean; waits?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.permanent = options.permanent ?? false;
    this.waits = options.waits ?? false;
  }
}

export type HypervisorErrorCode =
  /** A value of the call has no meaning here (an id, an address, a hostname with a line break). */
  | 'spec_invalid'
  /** The engine has no such ability; see `capabilities`. */
  | 'not_supported'
  | 'host_not_ready'
  | 'image_unknown'
  | 'image_build_failed'
  | 'image_rejected'
  | 'disk_failed'
  | 'network_failed'
  | 'start_failed'
  | 'machine_absent'
  | 'machine_died'
  | 'not_running'
  | 'shutdown_timeout'
  | 'ready_timeout'
  /** The guest's agent does not answer. */
  | 'guest_silent'
  /** The guest's agent answers and cannot do what it is asked. */
  | 'guest_refused'
  /** There is no picture of the screen to be had right now. */
  | 'screen_failed'
  /** The call wants a stopped machine. */
  | 'not_stopped'
  | 'snapshot_failed'
  /** A copy would take space that the node keeps free; the message is fit for customers. */
  | 'no_space'
  | 'snapshot_absent'
  /** The engine does not do this with this machine as it is; the message says why, and another way may be open. */
  | 'not_possible';
