import { ensureRackTree } from './tree.ts';

/** The tree for tests, and why there is none on this host. */
export const { tree: rackTree, reason: withoutRack } = await ensureRackTree().then(
  (tree) => ({ tree, reason: null }),
  (error: Error) => ({ tree: '', reason: error.message.split('\n')[0] ?? '' }),
);
