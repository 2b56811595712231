export { SwitchError, type SwitchErrorCode } from './failure.ts';

/**
 * What servers are plugged into: which ports it has, what went through each, and at which a MAC was heard. Rules every engine keeps:
 * - Every call has a deadline, with or without the caller's word, and may be repeated.
 * - A switch is not believed: an answer that nobody signed, that never ends, or that is none of a switch is `answer_invalid`, and nothing of it
 *   is given on.
 * - Counters are the switch's own, to the byte. Its in is what came in at the port, which is what the server behind it has sent.
 * - No passphrase is in an error or a log.
 * - Failures are `SwitchError`s; `permanent` says whether trying again can help, `waits` that it does not answer at all.
 */
export interface Switch {
  /** Which engine this is: `snmp`, `simulated`. */
  readonly kind: SwitchKind;
  /** What it can of all that one may lack; conformance holds it to this. What it lacks is `not_supported`; `lackOf` has the words. */
  readonly capabilities: readonly SwitchCapability[];

  /** Who answers. */
  identify(within?: Within): Promise<SwitchIdentity>;
  /** Every port, in its own order, read one after the other within the call. */
  readPorts(within?: Within): Promise<PortReading>;
  /** The name of the port at which this MAC was heard; null: at none. */
  findPort(mac: string, within?: Within): Promise<string | null>;

  /** The VLAN that a port is in, untagged; null: in none. `port_absent`. */
  readVlan(port: string, within?: Within): Promise<number | null>;
  /** Puts a port into a VLAN, untagged, and reads that back. `port_absent`. */
  setVlan(port: string, vlan: number, within?: Within): Promise<void>;

  /** Lets go of what it holds open. The switch stays as it is. */
  close(): Promise<void>;
}

export type SwitchKind = 'snmp' | 'simulated';

/** - `vlans`: `readVlan`, `setVlan`. */
export type SwitchCapability = 'vlans';

/** Milliseconds until the call fails at the latest. Each call has a default. */
export interface Within {
  timeoutMs?: number;
}

export interface SwitchIdentity {
  /** As its operator called it; may be empty. */
  name: string;
  /** Maker, model and version, in its own words. */
  description: string;
}

export interface PortReading {
  /** Since it began to count, as it says itself. */
  uptimeMs: number;
  ports: SwitchPort[];
}

export interface SwitchPort {
  /** As the switch calls it, each once. */
  name: string;
  /** What its operator wrote beside it; may be empty. */
  label: string;
  isUp: boolean;
  /** Null: it does not say. */
  speedMbps: number | null;
  /** Bytes, 64 bits each; null: it does not count them. */
  counters: { in: bigint; out: bigint } | null;
}
