import { isIPv6 } from 'node:net';
import snmp from 'net-snmp';
import { type SwitchConnection, usualPort } from '../connection.ts';
import { SwitchError } from '../failure.ts';
import { signedSockets } from './signed.ts';

/** A value as it came, and where it stands in its table: what follows the column's number. */
export interface Cell {
  at: string;
  type: number;
  value: unknown;
}

/** Questions to one switch, all within one deadline. */
export interface Questions {
  /** One value; null: it has none. */
  get(oid: string): Promise<Cell | null>;
  /** Every value below, in its order. */
  column(oid: string): Promise<Cell[]>;
}

/** More values than any switch has in a column. */
const mostCells = 16_384;
const repetitions = 40;
const usualTimeoutMs = 10_000;
const triedAgainAfterMs = 1_500;

/** Asks a switch; `switch_silent` when not all was answered in time. */
export async function asking<T>(
  connection: SwitchConnection,
  timeoutMs: number = usualTimeoutMs,
  work: (questions: Questions) => Promise<T>,
): Promise<T> {
  const session = open(connection);
  const { address } = connection;
  let late: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    late = setTimeout(() => reject(silent(address)), timeoutMs);
    // What is no answer at all is thrown away, and asked for once more.
    session.on('error', () => undefined);
  });
  try {
    return await Promise.race([work(questionsOf(session, address)), deadline]);
  } finally {
    clearTimeout(late);
    session.close();
  }
}

function open({ address, port = usualPort, user, authProtocol, ...secrets }: SwitchConnection): snmp.Session {
  const options = {
    ...{ port, version: snmp.Version3, timeout: triedAgainAfterMs, retries: 3, backoff: 1.5 },
    transport: isIPv6(address) ? 'udp6' : 'udp4',
    dgramModule: signedSockets,
  };
  return snmp.createV3Session(
    address,
    {
      ...{ name: user, level: snmp.SecurityLevel.authPriv },
      ...{ authProtocol: snmp.AuthProtocols[authProtocol], authKey: secrets.authPassphrase },
      ...{ privProtocol: snmp.PrivProtocols.aes, privKey: secrets.privacyPassphrase },
    },
    options as unknown as snmp.SessionOptionsV3,
  );
}

function questionsOf(session: snmp.Session, address: string): Questions {
  return {
    async get(oid) {
      const [varbind] = await answered(address, (done) => session.get([oid], done));
      if (varbind?.oid !== oid) throw invalid(address, 'it answers another question');
      return snmp.isVarbindError(varbind) ? null : cellOf(varbind, oid);
    },
    async column(oid) {
      const cells: Cell[] = [];
      for (let from = oid; ; ) {
        const found = await answered(address, (done) =>
          session.getBulk([from], 0, repetitions, done as never),
        );
        for (const varbind of found.flat() as snmp.Varbind[]) {
          if (snmp.isVarbindError(varbind) || !varbind.oid.startsWith(`${oid}.`)) return cells;
          if (!follows(varbind.oid, from)) throw invalid(address, 'its table goes round in a circle');
          if (cells.length === mostCells)
            throw invalid(address, `its table has more than ${mostCells} lines`);
          from = varbind.oid;
          cells.push(cellOf(varbind, oid));
        }
        if (found.length === 0) return cells;
      }
    },
  };
}

function cellOf({ oid, type, value }: snmp.Varbind, column: string): Cell {
  return { at: oid.slice(column.length + 1), type: type ?? 0, value };
}

/** Whether a number of objects comes after another one. */
function follows(oid: string, before: string): boolean {
  const [a, b] = [oid.split('.').map(Number), before.split('.').map(Number)];
  const differs = a.findIndex((part, index) => part !== b[index]);
  return differs !== -1 && (b[differs] === undefined || (a[differs] ?? -1) > (b[differs] ?? -1));
}

type Done = (error: Error | null, varbinds?: snmp.Varbind[]) => void;

async function answered(address: string, ask: (done: Done) => void): Promise<snmp.Varbind[]> {
  return new Promise((resolve, reject) => {
    ask((error, varbinds) => {
      if (error) reject(failureOf(address, error));
      else resolve(varbinds ?? []);
    });
  });
}

/** The library's errors quote messages and users; of those only the kind is told on. */
function failureOf(address: string, error: Error): SwitchError {
  if (error.name === 'RequestTimedOutError') return silent(address);
  if (error instanceof snmp.RequestFailedError)
    return new SwitchError('switch_refused', `${address} refuses: ${error.message.slice(0, 100)}`);
  const isOurs = /digest|user name|security level|decrypt/i.test(error.message);
  if (isOurs)
    return new SwitchError(
      'sign_in_refused',
      `${address} does not let us in: the user, a passphrase or its protocol is another one there`,
    );
  return invalid(address, 'what it says is no SNMP');
}

/** What it cannot read for the privacy passphrase it throws away without a word. */
function silent(address: string): SwitchError {
  return new SwitchError(
    'switch_silent',
    `${address} did not answer in time; where the privacy passphrase is another one, it is silent as well`,
  );
}

export function invalid(address: string, why: string): SwitchError {
  return new SwitchError('answer_invalid', `what ${address} answers is none of a switch: ${why}`);
}
