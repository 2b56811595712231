import { setTimeout as delay } from 'node:timers/promises';
import type { MachineEvent, MachineId } from '../contract.ts';
import { tellOfPower } from '../tellOfPower.ts';
import type { ProxmoxClient } from './client.ts';
import type { Machines, Seen } from './machines.ts';
import type { ProxmoxOptions } from './options.ts';

/** Who hears of machines' power, by what we see when we look and by what we did ourselves, each change once. */
export interface PowerWatch {
  watch(listener: (event: MachineEvent) => void): () => void;
  /** Begins to look now and then. Resolves when it has looked once. */
  listen(): Promise<void>;
  /** What a call of ours brought about, known before we look; of one that was started, its process. */
  did(id: MachineId, power: MachineEvent['power'], process?: Process): void;
  /** While `work` lasts, what the machine does is our doing, and no word about it is passed on. */
  quietly<T>(id: MachineId, work: () => Promise<T>): Promise<T>;
  close(): void;
}

interface Process {
  node: string;
  pid: number;
}

interface Known {
  power: MachineEvent['power'];
  /** By which it was seen running. */
  process: Process;
}

const watchMs = 3_000;
/** The journal is read from so long before we last saw the machine run. */
const journalSlackS = 30;

/** The engine tells nobody of what happens to machines: we look, a call for each node. */
export function powerWatch(options: ProxmoxOptions, client: ProxmoxClient, machines: Machines): PowerWatch {
  const { log } = options;
  const listeners = new Set<(event: MachineEvent) => void>();
  const last = new Map<MachineId, Known>();
  /** How many calls of ours are under way with a machine. */
  const quiet = new Map<MachineId, number>();
  /** What we did while somebody looked, who may have seen what was before. */
  let doneMeanwhile = new Set<MachineId>();
  let lookedAt = Date.now();
  let looking: Promise<void> | null = null;
  let isClosed = false;

  function tell(id: MachineId, known: Known, cause: MachineEvent['cause']): void {
    const before = last.get(id)?.power;
    last.set(id, known);
    // One that was never seen running has not stopped.
    if (before === known.power || (known.power === 'stopped' && before === undefined)) return;
    tellOfPower({ id, power: known.power, cause, at: new Date() }, listeners, log);
  }

  async function look(isFirst: boolean): Promise<void> {
    doneMeanwhile = new Set();
    const since = lookedAt;
    lookedAt = Date.now();
    const { found } = await machines.all();
    for (const { place, live } of found) {
      if (live === null || isClosed) continue;
      const known: Known = { power: live.power, process: { node: place.node, pid: live.run?.pid ?? 0 } };
      const before = last.get(place.id);
      const hasEnded = before?.power === 'running' && isOver(before.process, known);
      const cause = hasEnded ? await endOf(before.process, since) : 'host';
      if (quiet.has(place.id) || doneMeanwhile.has(place.id)) continue;
      if (isFirst && before === undefined) last.set(place.id, known);
      else if (hasEnded) tell(place.id, { ...known, power: 'stopped' }, cause);
      if (last.get(place.id)?.power !== known.power) tell(place.id, known, 'host');
      await note({ place, live });
    }
    const there = new Set(found.map(({ place }) => place.id));
    for (const id of last.keys()) if (!there.has(id) && !doneMeanwhile.has(id)) last.delete(id);
  }

  /** Who started it: somebody else, or the engine after its node came back. */
  async function note({ place, live }: Seen): Promise<void> {
    if (live === null || live.isNoted || live.told.lock !== undefined) return;
    await machines.noteRun(place, live.run).catch(() => undefined); // the next look tries again
  }

  /**
   * A guest that shuts itself down leaves its process to a program of the engine, which ends it; the process writes that into the
   * journal. One that was lost writes nothing.
   */
  async function endOf({ node, pid }: Process, sinceMs: number): Promise<MachineEvent['cause']> {
    const since = Math.floor(sinceMs / 1_000) - journalSlackS;
    const lines = await client.read(`/nodes/${node}/journal`, { since }).catch(() => []);
    const ended = new RegExp(
      `\\b\\w+\\[${pid}\\]: .*terminating on signal 15 from pid \\d+ \\(\\S*qmeventd\\)`,
    );
    return Array.isArray(lines) && lines.some((line) => ended.test(String(line))) ? 'guest' : 'lost';
  }

  async function lookAgain(): Promise<void> {
    let isAway = false;
    while (!isClosed) {
      await delay(options.watchMs ?? watchMs, undefined, { ref: false });
      if (isClosed) return;
      try {
        await look(false);
        isAway = false;
      } catch (error) {
        // Who cannot be reached now is asked again, and the log hears of it once.
        if (!isAway) log.warn({ error }, 'What happens to machines of a cluster is not to be seen now');
        isAway = true;
      }
    }
  }

  return {
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async listen() {
      if (looking !== null) return;
      await look(true);
      looking ??= lookAgain();
    },
    did(id, power, process) {
      doneMeanwhile.add(id);
      tell(id, { power, process: process ?? last.get(id)?.process ?? { node: '', pid: 0 } }, 'host');
    },
    async quietly(id, work) {
      quiet.set(id, (quiet.get(id) ?? 0) + 1);
      try {
        return await work();
      } finally {
        const left = (quiet.get(id) ?? 1) - 1;
        if (left > 0) quiet.set(id, left);
        else quiet.delete(id);
        doneMeanwhile.add(id);
      }
    },
    close() {
      isClosed = true;
      listeners.clear();
    },
  };
}

/** Switched off, or off and on again while nobody looked; one that runs on another node was moved there. */
function isOver(before: Process, { power, process }: Known): boolean {
  return power === 'stopped' || (before.node === process.node && before.pid !== process.pid);
}
