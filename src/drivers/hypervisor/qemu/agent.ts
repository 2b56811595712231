import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { HypervisorError } from '../contract.ts';
import type { MachineFiles } from './files.ts';
import type { Monitor } from './monitor.ts';

/** A conversation with the agent inside a guest. Protocol: QEMU's docs/interop/qemu-ga-ref. */
export interface Agent {
  /** Fails with {@link AgentRefusal} when the agent says no, with `guest_silent` when it says nothing in time. */
  command(name: string, args?: Record<string, unknown>, timeoutMs?: number): Promise<unknown>;
}

/** The agent answered, and what it answered is an error. */
export class AgentRefusal extends Error {
  /** QEMU's class of the error, such as `CommandNotFound`. */
  readonly errorClass: string;
  constructor(command: string, errorClass: string, description: string) {
    super(`${command}: ${description}`);
    this.errorClass = errorClass;
  }
}

const COMMAND_TIMEOUT_MS = 20_000;
const DELIMITER = 0xff;

/**
 * Talks to a machine's agent once it has proven that it listens: a sync with a number of our own separates its
 * answers from those that an earlier caller did not wait for. `guest_silent` after `patienceMs`.
 */
export async function withAgent<T>(
  files: MachineFiles,
  monitor: Monitor,
  patienceMs: number,
  work: (agent: Agent) => Promise<T>,
): Promise<T> {
  const until = Date.now() + patienceMs;
  await waitForAgent(files, monitor, until);
  const socket = await connect(files);
  try {
    const lines = readAnswers(socket);
    await synchronize(socket, lines, Math.max(500, until - Date.now()));
    return await work({
      async command(name, args = {}, timeoutMs = COMMAND_TIMEOUT_MS) {
        socket.write(`${JSON.stringify({ execute: name, arguments: args })}\n`);
        const answer = await lines.next(timeoutMs, name);
        if (answer.error) throw new AgentRefusal(name, answer.error.class, answer.error.desc);
        return answer.return;
      },
    });
  } finally {
    socket.destroy();
  }
}

export function silent(reason: string, cause?: unknown): HypervisorError {
  return new HypervisorError('guest_silent', `the guest's agent does not answer: ${reason}`, { cause });
}

/** QEMU knows whether anything in the guest has opened the agent's port; without that, asking is in vain. */
async function waitForAgent(files: MachineFiles, monitor: Monitor, until: number): Promise<void> {
  for (;;) {
    const devices = (await monitor.command('query-chardev')) as { label: string; 'frontend-open': boolean }[];
    if (devices.find((each) => each.label === 'agent0')?.['frontend-open']) return;
    if (Date.now() >= until) throw silent(`nothing listens in ${files.id}`);
    await delay(100);
  }
}

function connect(files: MachineFiles): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(files.agentSocket);
    socket.once('error', (error) => reject(silent('its socket is closed', error)));
    socket.once('connect', () => {
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

interface Answer {
  return?: unknown;
  error?: { class: string; desc: string };
}

interface Answers {
  next(timeoutMs: number, waitingFor: string): Promise<Answer>;
  /** Forgets everything up to the next delimiter. */
  restart(): void;
}

function readAnswers(socket: Socket): Answers {
  let bytes = Buffer.alloc(0);
  let skipping = false;
  let wake: () => void = () => undefined;
  let ended = false;
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    wake();
  });
  socket.once('close', () => {
    ended = true;
    wake();
  });

  function take(): Answer | null {
    if (skipping) {
      const at = bytes.indexOf(DELIMITER);
      bytes = at < 0 ? Buffer.alloc(0) : bytes.subarray(at + 1);
      if (at < 0) return null;
      skipping = false;
    }
    const end = bytes.indexOf(0x0a);
    if (end < 0) return null;
    const line = bytes.toString('utf8', 0, end);
    bytes = bytes.subarray(end + 1);
    try {
      return JSON.parse(line);
    } catch {
      return {}; // the rest of somebody else's answer
    }
  }

  return {
    restart() {
      skipping = true;
    },
    async next(timeoutMs, waitingFor) {
      const until = Date.now() + timeoutMs;
      for (;;) {
        const answer = take();
        if (answer) return answer;
        if (ended)
          throw new HypervisorError('machine_died', 'the machine went away during a call to its agent');
        if (Date.now() >= until) throw silent(`${waitingFor} took longer than ${timeoutMs} ms`);
        const timer = new AbortController();
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const waited = delay(until - Date.now(), undefined, { signal: timer.signal }).catch(() => undefined);
        await Promise.race([woken, waited]);
        timer.abort();
      }
    },
  };
}

async function synchronize(socket: Socket, answers: Answers, timeoutMs: number): Promise<void> {
  const id = Math.floor(Math.random() * 2 ** 40);
  const message = JSON.stringify({ execute: 'guest-sync-delimited', arguments: { id } });
  // The delimiter in front makes the agent drop half a command that an earlier caller may have left.
  socket.write(Buffer.concat([Buffer.of(DELIMITER), Buffer.from(`${message}\n`)]));
  const until = Date.now() + timeoutMs;
  for (;;) {
    answers.restart();
    const answer = await answers.next(Math.max(0, until - Date.now()), 'guest-sync-delimited');
    if (answer.return === id) return;
  }
}
