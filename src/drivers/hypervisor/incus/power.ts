import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { MachineEvent, MachineId, PowerState } from '../contract.ts';
import { tellOfPower } from '../tellOfPower.ts';
import type { IncusClient } from './client.ts';
import { unreachable } from './failure.ts';
import type { IncusOptions } from './options.ts';

/** Who hears of machines' power, by what the engine tells and by what we did ourselves, each change once. */
export interface PowerWatch {
  watch(listener: (event: MachineEvent) => void): () => void;
  /** Begins to listen to the engine. Resolves once it does. */
  listen(): Promise<void>;
  /** What a call of ours brought about, known before the engine tells. */
  did(id: MachineId, power: MachineEvent['power']): void;
  /** While `work` lasts, what the machine does is our doing, and no word about it is passed on. */
  quietly<T>(id: MachineId, work: () => Promise<T>): Promise<T>;
  close(): void;
}

interface Sources {
  client: IncusClient;
  log: IncusOptions['log'];
  powers(): Promise<Map<MachineId, PowerState>>;
}

const againMs = 1_000;
/** A host that lost its power says so to nobody: it is asked whether it is there. */
const askMs = 10_000;
const brokeOff = 'innkeeper-broke-off';
const actions: Record<string, MachineEvent['power']> = {
  'instance-started': 'running',
  'instance-restarted': 'running',
  'instance-stopped': 'stopped',
  'instance-shutdown': 'stopped',
  'instance-deleted': 'stopped',
};

export function powerWatch({ client, log, powers }: Sources): PowerWatch {
  const listeners = new Set<(event: MachineEvent) => void>();
  const last = new Map<MachineId, PowerState>();
  const quiet = new Set<MachineId>();
  const brokenOff = new Set<MachineId>();
  let socket: WebSocket | null = null;
  let listening: Promise<void> | null = null;
  let isClosed = false;

  function tell(id: MachineId, power: MachineEvent['power'], cause: MachineEvent['cause']): void {
    if (last.get(id) === power) return;
    // One that was never seen running has not stopped.
    const isNews = power === 'running' || last.get(id) === 'running';
    last.set(id, power);
    if (!isNews) return;
    tellOfPower({ id, power, cause, at: new Date() }, listeners, log);
  }

  function hear(text: string): void {
    const event = instanceEvent(text);
    if (!event || quiet.has(event.id)) return;
    // Logged before the engine tells of a shutdown, which it calls whatever it was not asked for.
    if (event.action === brokeOff) return void brokenOff.add(event.id);
    const power = actions[event.action];
    if (!power) return;
    const isLost = brokenOff.delete(event.id);
    if (event.action !== 'instance-shutdown') tell(event.id, power, 'host');
    else tell(event.id, power, isLost ? 'lost' : 'guest');
  }

  /** One line at a time, which counts once it is known besides how all machines are. */
  async function open(): Promise<void> {
    const opened = await client.socket('/1.0/events', { type: 'lifecycle,logging', level: 'warning' });
    opened.on('message', (data) => hear(String(data)));
    leaveWhenSilent(opened);
    try {
      await catchUp();
      if (isClosed || opened.readyState !== opened.OPEN)
        throw unreachable('the cluster has ended the line over which it tells of machines');
    } catch (error) {
      opened.terminate();
      throw error;
    }
    socket = opened;
    opened.once('close', () => {
      if (!isClosed) void reopen();
    });
  }

  /** What happened while nobody listened. */
  async function catchUp(): Promise<void> {
    const now = await powers();
    for (const [id, power] of now) {
      if (!last.has(id)) last.set(id, power);
      else if (power === 'running') tell(id, 'running', 'host');
      else if (power === 'stopped') tell(id, 'stopped', 'lost');
    }
  }

  async function reopen(): Promise<void> {
    while (!isClosed) {
      await delay(againMs, undefined, { ref: false });
      const failure = await open().then(
        () => null,
        (error: unknown) => error,
      );
      if (failure === null) return;
    }
  }

  return {
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    listen() {
      listening ??= open().catch((error: unknown) => {
        listening = null;
        throw error;
      });
      return listening;
    },
    did: (id, power) => tell(id, power, 'host'),
    async quietly(id, work) {
      quiet.add(id);
      try {
        return await work();
      } finally {
        quiet.delete(id);
      }
    },
    close() {
      isClosed = true;
      socket?.terminate();
      listeners.clear();
    },
  };
}

function leaveWhenSilent(socket: WebSocket): void {
  let isThere = true;
  const asking = setInterval(() => {
    if (!isThere) return socket.terminate();
    isThere = false;
    socket.ping();
  }, askMs);
  asking.unref();
  socket.on('pong', () => {
    isThere = true;
  });
  socket.once('close', () => clearInterval(asking));
}

/** An event of the engine's life that is about an instance, or the line it logs when QEMU broke off talking to it. */
function instanceEvent(text: string): { action: string; id: MachineId } | null {
  try {
    const { type, metadata } = JSON.parse(text);
    if (type === 'logging') {
      const { instance, reason } = metadata.context;
      return reason === 'disconnect' ? { action: brokeOff, id: String(instance) } : null;
    }
    const [, id] = /^\/1\.0\/instances\/([a-z0-9-]+)(\?|$)/.exec(metadata.source) ?? [];
    return id === undefined ? null : { action: String(metadata.action), id };
  } catch {
    return null; // some other event
  }
}
