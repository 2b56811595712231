import type { Duplex } from 'node:stream';
import type {
  BmcAccount,
  BmcCapability,
  BmcEvent,
  BmcIdentity,
  BmcKind,
  BootFrom,
  NextBoot,
  SensorReading,
  ServerPower,
} from './contract.ts';

/**
 * What an engine says to a BMC and hears of it, each thing once and without any proof; `proven.ts` makes the contract of it. Each takes at most
 * `leftMs`, and fails with a `BmcError`. Nobody calls two at once.
 */
export interface BmcControls {
  readonly kind: BmcKind;
  readonly capabilities: readonly BmcCapability[];
  identify(leftMs: number): Promise<BmcIdentity>;
  readPower(leftMs: number): Promise<ServerPower>;
  press(what: Press, leftMs: number): Promise<void>;
  readNextBoot(leftMs: number): Promise<BootFrom | null>;
  setNextBoot(boot: NextBoot | null, leftMs: number): Promise<void>;
  /** Ends whoever has the serial line, and opens it. It ends with `serial_taken` where it is ended from outside. */
  openSerial(leftMs: number): Promise<Duplex>;
  /** Whether there is a serial line to be opened. */
  showsSerial(leftMs: number): Promise<boolean>;
  /** Who has the serial line, by a name that changes with each opening; null: nobody. `not_supported` or `bmc_refused` where that cannot be told. */
  serialHolder(leftMs: number): Promise<string | null>;
  readSensors(leftMs: number): Promise<SensorReading[]>;
  readEvents(leftMs: number): Promise<BmcEvent[]>;
  listAccounts(leftMs: number): Promise<BmcAccount[]>;
  setPassword(account: BmcAccount, password: string, leftMs: number): Promise<void>;
  takeAccess(account: BmcAccount, leftMs: number): Promise<void>;
  disable(account: BmcAccount, leftMs: number): Promise<void>;
  signsIn(user: string, password: string, leftMs: number): Promise<boolean>;
  /** From now on our own password is another one. */
  becomes(password: string): void;
  readCipherSuites(leftMs: number): Promise<number[] | null>;
  /** Names of the services that are switched on; null: it cannot be asked. */
  readServices(leftMs: number): Promise<string[] | null>;
  /** Whether somebody gets in with the user's name and a wrong password, by a suite that asks for none. */
  letsInWithoutPassword(leftMs: number): Promise<boolean>;
  /** Whether somebody gets in with neither name nor password. */
  letsInWithoutName(leftMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** `on` and `off` are the mains, `button` is what asks the system to shut down. */
export type Press = 'on' | 'off' | 'button' | 'reset';
