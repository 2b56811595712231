import { setTimeout as delay } from 'node:timers/promises';
import type { Tree, TreeName } from '../../drivers/installer/index.ts';

/** Systems that servers are installed with, as the process has them that serves the network; how far it is with one that is being built is said to `say`. */
export type Trees = (name: TreeName, say: (line: string) => void) => Promise<Tree>;

/** A tree that cannot be had yet, and why. */
interface Unready {
  problem: string;
  /** It is being built, and nothing says that this will not succeed. */
  isBuilding: boolean;
}

/** It calls again in two seconds, and a tree may have to be built first. */
const treeWaitMs = 5_000;
const treeTryEveryMs = 60_000;

/** Gives a tree that is there, and has one built once, however often it is asked for meanwhile. */
export function patient(
  trees: Trees,
  { waitMs, tryEveryMs }: { waitMs: number; tryEveryMs: number } = {
    waitMs: treeWaitMs,
    tryEveryMs: treeTryEveryMs,
  },
): (name: TreeName) => Promise<Tree | Unready> {
  const under = new Map<TreeName, Promise<Tree | Unready>>();
  /** What was said last of those that are being built, and why others could not be had the last time. */
  const said = new Map<TreeName, string>();
  const failed = new Map<TreeName, string>();
  const build = async (name: TreeName): Promise<Tree | Unready> => {
    try {
      const tree = await trees(name, (line) => void said.set(name, line.slice(0, 500)));
      failed.delete(name);
      return tree;
    } catch (error) {
      const problem = (error instanceof Error ? error.message : String(error)).slice(0, 500);
      failed.set(name, problem);
      // It is tried for again, at the earliest after some time.
      setTimeout(() => under.delete(name), tryEveryMs).unref();
      return { problem, isBuilding: false };
    }
  };
  return async (name) => {
    const work = under.get(name) ?? build(name);
    under.set(name, work);
    void work.then((it) => 'problem' in it || under.delete(name));
    const found = await Promise.race([work, delay(waitMs, null, { ref: false })]);
    if (found !== null) return found;
    const before = failed.get(name);
    // A build that takes long is waited for. For one that failed before, nobody waits longer than for anything else.
    return before === undefined
      ? { problem: said.get(name) ?? `the system ${name} is not built yet`, isBuilding: true }
      : { problem: before, isBuilding: false };
  };
}
