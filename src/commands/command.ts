import type { Config } from '../config.ts';

/** A command that was not understood; the message says how it is written. */
export class UsageError extends Error {}

export interface Command {
  /** How it is called, and in a line what it does. */
  usage: string;
  does: string;
  options: Record<string, { type: 'string' | 'boolean' }>;
  /** Whether it takes one word besides its options, which it gets as the option `file`. */
  takesFile?: boolean;
  /** Throws {@link UsageError} for options that it cannot understand. Returns what to print at the end. */
  run(config: Config, options: Record<string, string | boolean | undefined>): Promise<string>;
}
