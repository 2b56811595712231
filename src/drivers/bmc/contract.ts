import type { Duplex } from 'node:stream';

export { BmcError, type BmcErrorCode } from './failure.ts';

/**
 * The controller of one server: it switches the server, chooses what it starts from, shows its serial line and its sensors, while the server
 * itself may be off. Rules every engine keeps:
 * - Every call has a deadline, with or without the caller's word, and may be repeated: after a success, after `bmc_silent`, and after a crash
 *   in the middle it ends in the same state.
 * - What a BMC answers is no proof. Power and the choice of what to start from are read back, passwords are tried. Where it says yes and does
 *   nothing, the call fails with `nothing_happened`; where it fails and has done it all the same, the call succeeds.
 * - A BMC is asked one thing at a time, by all of this process. What waits for something to happen, such as `shutDown`, lets others
 *   ask meanwhile. Two processes should not speak to one BMC: whoever owns it sees to that.
 * - Before the first change, a BMC whose `uuid` is known is asked who it is: `other_bmc` where it is not the one, and nothing was changed.
 * - No password is in an argument of a program, an error or a log.
 * - Failures are `BmcError`s; `permanent` says whether trying again can help, `waits` that it does not answer at all.
 */
export interface Bmc {
  /** Which engine this is: `ipmi`, `redfish`, `simulated`. */
  readonly kind: BmcKind;
  /** What it can of all that one may lack; conformance holds it to this. What it lacks is `not_supported`. */
  readonly capabilities: readonly BmcCapability[];

  /** Who answers. */
  identify(within?: Within): Promise<BmcIdentity>;

  readPower(within?: Within): Promise<ServerPower>;
  /** On, as it is read back. Of one that is on: succeeds. */
  powerOn(within?: Within): Promise<void>;
  /** Presses the power button once and waits until the server is off: `shutdown_timeout` at the deadline. Of one that is off: succeeds. */
  shutDown(within: { timeoutMs: number }): Promise<void>;
  /** Takes the power away at once, and reads that back. Of one that is off: succeeds. */
  powerOff(within?: Within): Promise<void>;
  /** Off, read back, and on, read back, some seconds apart. One that is off is switched on. */
  powerCycle(within?: Within): Promise<void>;
  /**
   * The reset button; `not_running` when it is off. No BMC shows whether its server really began anew: who has to know it takes
   * `powerCycle`, or looks at the serial line.
   */
  reset(within?: Within): Promise<void>;

  /** What the server starts from the next time; null: what its own order says. */
  readNextBoot(within?: Within): Promise<BootFrom | null>;
  /** For the next start alone, read back; null takes the choice back. A server that is on goes on. */
  setNextBoot(boot: NextBoot | null, within?: Within): Promise<void>;

  /**
   * The server's serial line, both ways. A BMC has one: whoever opens it takes it over, from another of this process, from another
   * process, and from one that is dead. The one before ends with the error `serial_taken`. Destroy it to let go. `not_supported` without `serial`.
   */
  openSerial(within?: Within): Promise<Duplex>;

  /** Whether `openSerial` can show anything: without the right hardware or settings a BMC of a kind that has a line shows none. */
  showsSerial(within?: Within): Promise<boolean>;

  /** What it measures right now; with a server that is off, much of it is null. Takes seconds of a real one. */
  readSensors(within?: Within): Promise<SensorReading[]>;
  /** What it has noted, the oldest first, the newest 200 at most. */
  readEvents(within?: Within): Promise<BmcEvent[]>;

  /** Who may sign in, and who has a name or once had. */
  listAccounts(within?: Within): Promise<BmcAccount[]>;
  /**
   * Sets the password of an account, 8 to 16 printable ASCII characters without spaces (`spec_invalid`), and tries it, and tries that its beginning opens
   * nothing (`password_cut`). Of the account that we sign in with, this handle goes on with the new one; whoever does that keeps both
   * until it is known which one holds, and asks with `signsIn` after a crash.
   */
  setPassword(accountId: string, password: string, within?: Within): Promise<void>;
  /**
   * Nobody signs in with this account any more: it gets a password that nobody knows and no access, is disabled last, and is tried. `spec_invalid`
   * for the account that we sign in with.
   */
  shutOut(accountId: string, within?: Within): Promise<void>;
  /** Whether somebody can sign in so, by trying it. Where it does not answer: `bmc_silent`, never false. */
  signsIn(user: string, password: string, within?: Within): Promise<boolean>;

  /** What is unsafe about it, tried and not only asked. It costs a failed sign-in or more, which the BMC may note. */
  readSecurity(within?: Within): Promise<SecurityReport>;

  /** Lets go of sessions and of an open serial line. The server stays as it is. */
  close(): Promise<void>;
}

export type BmcKind = 'ipmi' | 'redfish' | 'simulated';

/** - `serial`: `openSerial`. */
export type BmcCapability = 'serial';

/** Milliseconds until the call fails at the latest, the time that it waits for others included. Each call has a default. */
export interface Within {
  timeoutMs?: number;
}

export interface BmcIdentity {
  /** By which BMCs are told apart, as 8-4-4-4-12 small hexadecimal digits in the order in which its engine sends them; null: it has none. */
  uuid: string | null;
  /** Of the server, as its BMC knows it; null: it does not say. */
  maker: string | null;
  model: string | null;
  serial: string | null;
  /** Version of the BMC's own. */
  firmware: string;
}

export type ServerPower = 'on' | 'off';

export type BootFrom = 'network' | 'disk';

export interface NextBoot {
  from: BootFrom;
  /** How it starts from there. What its firmware cannot do it may ignore: no BMC tells. */
  firmware: 'bios' | 'uefi';
}

export interface SensorReading {
  name: string;
  kind: 'temperature' | 'fan' | 'power' | 'voltage' | 'current' | 'other';
  /** `celsius`, `rpm`, `percent`, `watts`, `volts`, `amperes`; of `other` as the BMC says it. */
  unit: string;
  /** Null: not measured, as of a server that is off. */
  value: number | null;
  state: 'ok' | 'warning' | 'critical' | 'unknown';
  /** Beyond them it is `warning` or `critical`; null: it has no such limit. */
  limits: Record<'lowCritical' | 'lowWarning' | 'highWarning' | 'highCritical', number | null>;
}

export interface BmcEvent {
  id: string;
  /** By the BMC's clock, which may be wrong; null: it does not know. */
  at: Date | null;
  /** What it is about, such as a sensor; may be empty. */
  subject: string;
  message: string;
}

export interface BmcAccount {
  /** By which the BMC knows it; it stays when it is renamed. */
  id: string;
  /** Empty: whoever gives no name. */
  name: string;
  access: 'administrator' | 'operator' | 'user' | 'none';
  /** Null: the BMC does not say. */
  isEnabled: boolean | null;
}

export interface SecurityReport {
  /** Cipher suites of IPMI that it offers; null for an engine that knows none. */
  cipherSuites: number[] | null;
  /** Names of the services that it offers on its network, as its engine calls them, sorted; null for an engine that knows none. */
  services: string[] | null;
  findings: SecurityFinding[];
}

export interface SecurityFinding {
  /** `suite_0`: lets in without a password. `anonymous_user`: lets in without a name. `factory_user`: has a name and a password that everybody knows. */
  code: 'suite_0' | 'anonymous_user' | 'factory_user';
  /** Of `factory_user`: its name. */
  account: string | null;
  /** What it is and what to do about it, for staff. */
  message: string;
}
