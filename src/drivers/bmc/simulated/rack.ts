import { Duplex } from 'node:stream';
import type {
  BmcAccount,
  BmcEvent,
  BmcIdentity,
  BootFrom,
  NextBoot,
  SensorReading,
  ServerPower,
} from '../contract.ts';
import { BmcError } from '../failure.ts';

/** A BMC in memory, and the server behind it, as somebody sees them who stands in front of the rack. */
export interface SimulatedBmc {
  identity: BmcIdentity;
  power: ServerPower;
  nextBoot: NextBoot | null;
  /** What each start of the server began from, the first one first. */
  starts: BootFrom[];
  accounts: SimulatedAccount[];
  sensors: SensorReading[];
  events: BmcEvent[];
  cipherSuites: number[];
  /** Names of the network services that are switched on. */
  services: string[];
  /** What goes wrong, until it is switched off again. */
  failing: SimulatedFailures;
  /** Called when the server went on, off or began anew, as whoever plays its system wants to know. */
  changed?: (power: ServerPower, from: BootFrom | null) => void;
  line: SimulatedLine;
}

export interface SimulatedAccount extends BmcAccount {
  password: string;
  isEnabled: boolean;
}

export interface SimulatedFailures {
  /**
   * `before`: nothing is heard of it. `during`: what is to change does change, and the answer never comes. `after`: it answers what changes
   * something, and nothing from then on.
   */
  silent?: 'before' | 'during' | 'after';
  /** It says yes and does nothing. */
  saysYes?: boolean;
  /** The system does not follow the power button. */
  ignoresButton?: boolean;
  /** It cuts passwords, and says nothing of it. */
  cutsPasswordsAt?: number;
  /** It shows no serial line. */
  noSerial?: boolean;
  letsInWithoutPassword?: boolean;
  letsInWithoutName?: boolean;
  /** Milliseconds for each answer. */
  slowMs?: number;
}

/** The server's serial line: one reader at a time. */
export interface SimulatedLine {
  /** All that was typed into it. */
  typed: string;
  /** What the server says; nobody hears what was said while nobody had it open. */
  print(text: string): void;
  /** Called when somebody has opened it, and with what they type, as whoever plays its system wants to know. */
  onOpen?: () => void;
  onTyped?: (text: string) => void;
  open(): Duplex;
  /** Null: nobody has it. */
  holder(): string | null;
  /** Somebody else opens it, whom we do not know. */
  take(): void;
}

/** BMCs by their addresses, as a network has them. */
export interface SimulatedRack {
  /** Puts one there, in place of what was there before; with defaults for what is not said. */
  put(address: string, bmc?: Partial<SimulatedBmc>): SimulatedBmc;
  /** Nothing answers there any more. */
  remove(address: string): void;
  at(address: string): SimulatedBmc | null;
}

export function simulatedRack(): SimulatedRack {
  const bmcs = new Map<string, SimulatedBmc>();
  return {
    put(address, bmc = {}) {
      const whole = { ...newBmc(bmcs.size + 1), ...bmc };
      bmcs.set(address, whole);
      return whole;
    },
    remove: (address) => void bmcs.delete(address),
    at: (address) => bmcs.get(address) ?? null,
  };
}

/** Every one of them has another identity. */
function newBmc(nth: number): SimulatedBmc {
  const number = String(nth).padStart(4, '0');
  return {
    identity: {
      uuid: `5111a7ed-0000-4000-8000-00000000${number}`,
      maker: 'Example',
      model: 'R1',
      serial: `S1-${number}`,
      firmware: '9.8',
    },
    power: 'off',
    nextBoot: null,
    starts: [],
    accounts: [
      { id: '2', name: 'root', password: 'factory-1', access: 'administrator', isEnabled: true },
      { id: '3', name: 'guest', password: 'guest-pass-1', access: 'operator', isEnabled: true },
    ],
    sensors: [
      {
        ...{ name: 'CPU Temp', kind: 'temperature', unit: 'celsius', value: 34, state: 'ok' },
        limits: { lowCritical: null, lowWarning: null, highWarning: 112, highCritical: 144 },
      },
    ],
    events: [],
    cipherSuites: [3, 17],
    services: ['HTTPS', 'IPMI'],
    failing: {},
    line: newLine(),
  };
}

function newLine(): SimulatedLine {
  let reader: Duplex | null = null;
  let openings = 0;
  const end = () => reader?.destroy(new BmcError('serial_taken', 'somebody else has opened the serial line'));
  const line: SimulatedLine = {
    typed: '',
    print: (text) => void reader?.push(text),
    open() {
      end();
      const opened = new Duplex({
        allowHalfOpen: false,
        read: () => undefined,
        write(chunk: Buffer, _encoding, done) {
          const text = chunk.toString('latin1');
          line.typed += text;
          line.onTyped?.(text);
          done();
        },
      });
      opened.once('close', () => {
        if (reader === opened) reader = null;
      });
      reader = opened;
      openings += 1;
      line.onOpen?.();
      return opened;
    },
    holder: () => (reader === null ? null : String(openings)),
    take: end,
  };
  return line;
}
