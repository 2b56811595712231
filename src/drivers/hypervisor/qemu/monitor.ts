import { setTimeout as delay } from 'node:timers/promises';
import type { MachineEvent } from '../contract.ts';
import type { Log } from '../log.ts';
import type { MachineFiles } from './files.ts';
import { trimLog } from './log.ts';
import { findProcess } from './process.ts';
import { connectQmp, forgetHungUp, type Qmp, type QmpEvent } from './qmp.ts';
import { starvationWatch } from './starved.ts';

/** Watches one running machine over QMP until it ends or we let go. */
export interface Monitor {
  readonly files: MachineFiles;
  /** The machine's process. */
  readonly pid: number;
  /** Runs a QMP command, connecting first where needed. */
  command(name: string, args?: Record<string, unknown>, timeoutMs?: number): Promise<unknown>;
  /** Whether the machine's end, from here on, is our doing. */
  expectEnd(expected: boolean): void;
  /** Whether it has not answered for a while: it is stopped, or says what no QEMU says. */
  hangs(): boolean;
  /** Settles when the machine's process is gone and `onEnd` was told, or when we let go. */
  readonly ended: Promise<void>;
  /** Lets go; the machine runs on. */
  release(): void;
}

const askEveryMs = 10_000;
const answerWithinMs = 5_000;
/** So many questions without an answer, or connections without a conversation. */
const mostSilences = 3;
const reconnectMs = [10, 20, 50, 100, 300, 1_000, 3_000];

/**
 * Follows the process `pid` of a machine. `onEnd` is told once, when it is gone, and why. A lost connection to
 * a machine that still runs is made again, with growing pauses.
 */
export function monitorMachine(
  files: MachineFiles,
  pid: number,
  log: Log,
  onEnd: (cause: MachineEvent['cause']) => void,
  onHang: (hangs: boolean) => void = () => undefined,
): Monitor {
  let released = false;
  let expected = false;
  let guestShutDown = false;
  let connection: Promise<Qmp> | null = null;
  let silences = 0;
  forgetHungUp(files.qmpSocket);
  const starvation = starvationWatch(files.id, log);
  // Also of one that says nothing over its socket.
  const trimming = setInterval(() => {
    trimLog(files).catch((error) => log.warn({ machine: files.id, error }, 'Its log could not be emptied'));
  }, askEveryMs).unref();

  function connect(): Promise<Qmp> {
    if (connection) return connection;
    const opening = connectQmp(files.qmpSocket, onEvent);
    connection = opening;
    const forget = () => {
      if (connection === opening) connection = null;
    };
    opening.then((qmp) => {
      if (released) qmp.close();
      else starvation.onConnect(qmp).catch(() => undefined); // the connection is lost again
      qmp.closed.then(forget);
    }, forget);
    return opening;
  }

  function onEvent(event: QmpEvent): void {
    if (event.event === 'SHUTDOWN') guestShutDown = event.data?.guest === true;
    starvation.onEvent(event, connect);
  }

  function heard(isAnswer: boolean): void {
    const before = silences >= mostSilences;
    silences = isAnswer ? 0 : silences + 1;
    if (before !== silences >= mostSilences) onHang(!before);
  }

  /** Asks from time to time whether it is still there, until the connection ends; false when it never answered. */
  async function converse(qmp: Qmp): Promise<boolean> {
    let isOpen = true;
    let hasAnswered = false;
    const closed = qmp.closed.then(() => {
      isOpen = false;
    });
    while (isOpen) {
      const isAnswer = await qmp.command('query-status', {}, answerWithinMs).then(
        () => true,
        () => false,
      );
      hasAnswered ||= isAnswer;
      if (isAnswer || isOpen) heard(isAnswer);
      const timer = new AbortController();
      const pause = isAnswer ? askEveryMs : 100;
      await Promise.race([closed, delay(pause, undefined, { signal: timer.signal }).catch(() => undefined)]);
      timer.abort();
    }
    return hasAnswered;
  }

  async function follow(): Promise<void> {
    for (let failures = 0; !released; failures++) {
      try {
        const qmp = await connect();
        const since = performance.now();
        if (await converse(qmp)) {
          // One that breaks off again and again is not asked again at once for ever.
          if (performance.now() - since > askEveryMs) failures = 0;
        } else if (!released && (await findProcess(files)) === pid) heard(false);
      } catch (error) {
        if ((await findProcess(files)) === pid) heard(false);
        if (failures === 4)
          log.warn({ machine: files.id, error }, 'The machine runs but its control socket is silent');
      }
      if (released) return;
      // A process that closes its sockets takes a moment to be gone.
      await delay(reconnectMs[Math.min(failures, reconnectMs.length - 1)]);
      if (released || (await findProcess(files)) === pid) continue;
      released = true;
      onEnd(expected ? 'host' : guestShutDown ? 'guest' : 'lost');
    }
  }

  return {
    files,
    pid,
    command: async (name, args, timeoutMs) => (await connect()).command(name, args, timeoutMs),
    expectEnd(value) {
      expected = value;
    },
    hangs: () => silences >= mostSilences,
    ended: follow()
      .catch((error) => log.error({ machine: files.id, error }, 'Watching the machine failed'))
      .finally(() => clearInterval(trimming)),
    release() {
      released = true;
      connection?.then((qmp) => qmp.close()).catch(() => undefined);
    },
  };
}
