import { setTimeout as delay } from 'node:timers/promises';
import type { PackedSystem } from '../../drivers/installer/index.ts';
import type { ServerSystem } from '../serverImages.ts';

/** Systems that servers are installed with, as the process has them that serves the network; how far it is with one that is being built is said to `say`. */
export type Systems = (system: ServerSystem, say: (line: string) => void) => Promise<PackedSystem>;

/** A system that cannot be had yet, and why. */
interface Unready {
  problem: string;
  /** It is being built, and nothing says that this will not succeed. */
  isBuilding: boolean;
}

/** It calls again in two seconds, and a system may have to be built or downloaded first. */
const systemWaitMs = 5_000;
const systemTryEveryMs = 60_000;

/** As people call it. */
function nameShown(system: ServerSystem): string {
  return system.kind === 'tree' ? system.tree : system.disk.slug;
}

/** What tells systems apart. */
function nameOf(system: ServerSystem): string {
  return system.kind === 'tree' ? system.tree : `${system.disk.slug} ${system.disk.sha256}`;
}

/** Gives a system that is there, and has one built or downloaded once, however often it is asked for meanwhile. */
export function patient(
  systems: Systems,
  { waitMs, tryEveryMs }: { waitMs: number; tryEveryMs: number } = {
    waitMs: systemWaitMs,
    tryEveryMs: systemTryEveryMs,
  },
): (system: ServerSystem) => Promise<PackedSystem | Unready> {
  const under = new Map<string, Promise<PackedSystem | Unready>>();
  /** What was said last of those that are being built, and why others could not be had the last time. */
  const said = new Map<string, string>();
  const failed = new Map<string, string>();
  const build = async (system: ServerSystem): Promise<PackedSystem | Unready> => {
    const name = nameOf(system);
    try {
      const packed = await systems(system, (line) => void said.set(name, line.slice(0, 500)));
      failed.delete(name);
      return packed;
    } catch (error) {
      const problem = (error instanceof Error ? error.message : String(error)).slice(0, 500);
      failed.set(name, problem);
      // It is tried for again, at the earliest after some time.
      setTimeout(() => under.delete(name), tryEveryMs).unref();
      return { problem, isBuilding: false };
    }
  };
  return async (system) => {
    const name = nameOf(system);
    const work = under.get(name) ?? build(system);
    under.set(name, work);
    void work.then((it) => 'problem' in it || under.delete(name));
    const found = await Promise.race([work, delay(waitMs, null, { ref: false })]);
    if (found !== null) return found;
    const before = failed.get(name);
    // A build that takes long is waited for. For one that failed before, nobody waits longer than for anything else.
    return before === undefined
      ? { problem: said.get(name) ?? `the system ${nameShown(system)} is not there yet`, isBuilding: true }
      : { problem: before, isBuilding: false };
  };
}
