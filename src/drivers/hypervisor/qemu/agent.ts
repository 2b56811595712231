import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { HypervisorError } from '../contract.ts';
import type { MachineFiles } from './files.ts';
import type { Monitor } from './monitor.ts';
import { plainText } from './plainText.ts';

/** A conversation with the agent inside a guest. Protocol: QEMU's docs/interop/qemu-ga-ref. */
export interface Agent {
  /**
   * Fails with {@link AgentRefusal} when the agent says no, with `guest_silent` when it says nothing in time, and
   * with `guest_refused` when what it says has no end.
   */
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

const commandTimeoutMs = 20_000;
const delimiterByte = 0xff;
const newlineByte = 0x0a;
/** Far above every answer that we ask for. The other end is the guest's: it can say whatever it likes. */
const largestAnswerBytes = 2 ** 20;
const longestRefusal = 300;

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
      async command(name, args = {}, timeoutMs = commandTimeoutMs) {
        socket.write(`${JSON.stringify({ execute: name, arguments: args })}\n`);
        const answer = await lines.next(timeoutMs, name);
        if (answer.error) throw new AgentRefusal(name, answer.error.class, answer.error.description);
        return answer.value;
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

/** What the guest answered; its words are plain, what is in `value` is for the asker to doubt. */
interface Answer {
  value?: unknown;
  error?: { class: string; description: string };
}

interface Answers {
  next(timeoutMs: number, waitingFor: string): Promise<Answer>;
  /** Forgets everything up to the next delimiter. */
  restart(): void;
}

function readAnswers(socket: Socket): Answers {
  // One buffer for all there may be, written and searched from left to right, so that no chunk is looked at twice.
  const bytes = Buffer.allocUnsafe(largestAnswerBytes);
  let from = 0;
  let searched = 0;
  let to = 0;
  let skipping = false;
  let wake: () => void = () => undefined;
  let ended = false;
  let overflowed = false;
  socket.on('data', (chunk: Buffer) => {
    if (to + chunk.length > bytes.length) {
      bytes.copyWithin(0, from, to);
      [from, searched, to] = [0, searched - from, to - from];
    }
    overflowed ||= to + chunk.length > bytes.length;
    if (overflowed) return void socket.destroy();
    to += chunk.copy(bytes, to);
    wake();
  });
  socket.once('close', () => {
    ended = true;
    wake();
  });

  function takeLine(): Buffer | null {
    const length = bytes.subarray(searched, to).indexOf(newlineByte);
    if (length < 0) {
      searched = to;
      return null;
    }
    const line = bytes.subarray(from, searched + length);
    from = searched = searched + length + 1;
    return line;
  }

  function take(): Answer | null {
    for (let line = takeLine(); line; line = takeLine()) {
      const delimiter = line.indexOf(delimiterByte);
      if (skipping && delimiter < 0) continue;
      const text = line.toString('utf8', skipping ? delimiter + 1 : 0);
      skipping = false;
      return parse(text);
    }
    return null;
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
        if (overflowed) throw endless(waitingFor);
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

/** The one place where words of a guest enter. What is no answer is the rest of somebody else's, and empty. */
function parse(line: string): Answer {
  let said: unknown;
  try {
    said = JSON.parse(line);
  } catch {
    return {};
  }
  if (typeof said !== 'object' || said === null) return {};
  if (!('error' in said)) return { value: 'return' in said ? said.return : undefined };
  const { class: errorClass, desc } = Object(said.error) as { class?: unknown; desc?: unknown };
  return { error: { class: plainText(errorClass, 100), description: plainText(desc, longestRefusal) } };
}

function endless(waitingFor: string): HypervisorError {
  return new HypervisorError(
    'guest_refused',
    `the guest's agent answers ${waitingFor} with more than ${largestAnswerBytes} bytes`,
  );
}

/** An earlier caller leaves one greeting each. More would be read without end, and nothing else of the process done meanwhile. */
const mostGreetings = 32;

async function synchronize(socket: Socket, answers: Answers, timeoutMs: number): Promise<void> {
  const id = Math.floor(Math.random() * 2 ** 40);
  const message = JSON.stringify({ execute: 'guest-sync-delimited', arguments: { id } });
  // The delimiter in front makes the agent drop half a command that an earlier caller may have left.
  socket.write(Buffer.concat([Buffer.of(delimiterByte), Buffer.from(`${message}\n`)]));
  const until = Date.now() + timeoutMs;
  for (let greeting = 0; greeting < mostGreetings; greeting += 1) {
    answers.restart();
    const answer = await answers.next(Math.max(0, until - Date.now()), 'guest-sync-delimited');
    if (answer.value === id) return;
  }
  throw new HypervisorError('guest_refused', "the guest's agent greets with what it was not asked");
}
