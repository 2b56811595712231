import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { dial } from '../../../consoles/index.ts';
import type { HypervisorOf } from '../../../drivers/hypervisor/index.ts';
import { serially } from '../../../drivers/index.ts';
import { type Context, causesOf } from '../../../platform/index.ts';
import { machineIdOf } from '../../machine.ts';
import {
  type Beaten,
  beat,
  type Claimant,
  type Claimed,
  claim,
  findHolder,
  type Holder,
  type LineMachine,
  release,
  takeOver,
} from './holders.ts';

/** Serial lines of machines whose engine lets one viewer in: opened once, by one process of all, and shared. */
export interface ConsoleLines {
  /**
   * Joins the line of a machine, through the process that holds it; where none does, or that one is dead, this one does from now on.
   * `LineElsewhere` when it is held by a process that lives and cannot be reached from here.
   */
  open(serviceId: number): Promise<Duplex>;
  /** Joins for another process a line that this one holds; null when it does not. */
  join(serviceId: number): Promise<Duplex> | null;
  /** Ends all lines that are held here and leaves them to others. */
  close(): Promise<void>;
}

/** A line is held by a process that lives and that this one does not reach. Taking it would send away who looks at it there. */
export class LineElsewhere extends Error {}

const beatEveryMs = 1_000;
/** A holder that gave no sign of life for so long is dead, or has lost the database: its line is another's. */
const deadAfterMs = 4_000;
/** A sign of life that is older is no living process's, whatever the clocks of two hosts say. */
const longDeadAfterMs = 60_000;
const lookEveryMs = 250;
/** Whoever holds it may change a few times while many want it. */
const openWithinMs = 20_000;

interface Held {
  serviceId: number;
  machine: LineMachine;
  /** Whoever looks at it or is about to. */
  viewers: number;
  streams: Set<Duplex>;
}

export function consoleLines(ctx: Context, hypervisorOf: HypervisorOf, self: () => Claimant): ConsoleLines {
  const held = new Map<number, Held>();
  const inTurn = serially();
  let timer: NodeJS.Timeout | null = null;
  let beatenAtMs = 0;

  async function open(serviceId: number): Promise<Duplex> {
    const until = performance.now() + openWithinMs;
    while (performance.now() < until) {
      const found = await inTurn(String(serviceId), () => enter(serviceId));
      if (found === null) continue;
      if (!('holder' in found)) return view(found);
      const joined = await dial(ctx, { serviceId, what: 'line' }, found);
      if (joined !== null) return joined;
      const how = await watchHolder(ctx, serviceId, found);
      if (how === 'lives') throw new LineElsewhere(found.address);
      if (how !== 'changed') await takeOver(ctx, serviceId, how, self());
    }
    throw new Error('the line changes hands again and again');
  }

  /** Takes a place at a line that is held here, or claims it; else who holds it. */
  async function enter(serviceId: number): Promise<Held | Claimed | null> {
    let line = held.get(serviceId);
    if (line === undefined) {
      const claimed = await claim(ctx, serviceId, self());
      if (claimed?.holder !== self().process) return claimed;
      const { node_id, incarnation, started_at } = claimed;
      line = { serviceId, machine: { node_id, incarnation, started_at }, viewers: 0, streams: new Set() };
      if (held.size === 0) beatenAtMs = performance.now();
      held.set(serviceId, line);
      timer ??= setInterval(() => void keepAlive(), beatEveryMs).unref();
    }
    line.viewers += 1;
    return line;
  }

  async function view(line: Held): Promise<Duplex> {
    try {
      const stream = await hypervisorOf(line.machine.node_id).openConsole(
        machineIdOf(line.serviceId, line.machine.incarnation),
        'serial',
      );
      line.streams.add(stream);
      stream.once('close', () => {
        line.streams.delete(stream);
        leave(line);
      });
      // It has ended while it was opened.
      if (held.get(line.serviceId) !== line) stream.destroy();
      return stream;
    } catch (error) {
      leave(line);
      throw error;
    }
  }

  function leave(line: Held): void {
    line.viewers -= 1;
    if (line.viewers === 0 && held.get(line.serviceId) === line) letGo(line);
  }

  /** Who comes now claims it anew. */
  function letGo({ serviceId }: Held): void {
    held.delete(serviceId);
    if (held.size === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
    inTurn(String(serviceId), async () => {
      if (!held.has(serviceId)) await release(ctx, serviceId, self().process);
    }).catch((error: Error) => complain(error, 'a console line could not be left to others'));
  }

  /** Says that this process lives, and ends what is not its own any more, or not the same machine's. */
  async function keepAlive(): Promise<void> {
    const lines = [...held.values()];
    try {
      const beaten = new Map(
        (await beat(ctx, self().process)).map((each) => [Number(each.service_id), each] as const),
      );
      beatenAtMs = performance.now();
      for (const line of lines) if (hasEnded(line.machine, beaten.get(line.serviceId))) end(line);
    } catch (error) {
      complain(error as Error, 'holders of console lines could not be written down');
      // Another process may take it for dead by now.
      if (performance.now() - beatenAtMs > deadAfterMs) for (const line of lines) end(line);
    }
  }

  function end(line: Held): void {
    if (held.get(line.serviceId) === line) letGo(line);
    for (const stream of line.streams) stream.destroy();
  }

  function complain(error: Error, what: string): void {
    ctx.log.warn({ err: causesOf(error) }, what);
  }

  return {
    open,
    join(serviceId) {
      const line = held.get(serviceId);
      if (line === undefined) return null;
      line.viewers += 1;
      return view(line);
    },
    async close() {
      const lines = [...held.values()];
      for (const line of lines) end(line);
      await Promise.all(lines.map(({ serviceId }) => inTurn(String(serviceId), async () => undefined)));
    },
  };
}

/**
 * What became of a holder that cannot be reached: it `lives`, the line is not its own any more (`changed`), or how it was seen last, when it
 * gave no sign of life while we looked on. By its count and our own time: clocks of two hosts are not compared.
 */
export async function watchHolder(
  ctx: Context,
  serviceId: number,
  seen: Holder,
  forMs = deadAfterMs,
): Promise<'lives' | 'changed' | Holder> {
  if (ctx.clock.now().getTime() - seen.seen_at.getTime() > longDeadAfterMs) return seen;
  const until = performance.now() + forMs;
  for (;;) {
    const now = await findHolder(ctx, serviceId);
    if (now?.holder !== seen.holder) return 'changed';
    if (now.beats !== seen.beats) return 'lives';
    if (performance.now() >= until) return now;
    await delay(lookEveryMs);
  }
}

/** Whether a line leads to nobody any more: it is another process's, or its machine is elsewhere, was started anew or stopped. */
export function hasEnded(before: LineMachine, now: Beaten | undefined): boolean {
  if (now === undefined || now.node_id !== before.node_id) return true;
  if (now.state === 'stopped' || now.state === 'suspended') return true;
  const [was, is] = [before.started_at, now.started_at];
  return was !== null && is !== null && was.getTime() !== is.getTime();
}
