import { record } from '../events/index.ts';
import { type Context, fail, requireRow, silentAfterS, statement, transaction } from '../platform/index.ts';
import { nodeReplaced } from './events.ts';
import { readNode } from './nodes.ts';

interface Replaced {
  id: number;
  name: string;
  seen_at: Date | null;
  cluster_id: number | null;
}

const lockNode = statement<Replaced, { id: number }>(
  'fleet.lockReplaced',
  'select id, name, seen_at, cluster_id from nodes where id = :id for no key update',
);
const forgetDataDir = statement<never, { id: number }>(
  'fleet.forgetDataDir',
  'update nodes set data_dir_id = null where id = :id',
);

/**
 * Lets another host take a node's place: the next one that starts under its name is the node. Its machines are those
 * in that host's DATA_DIR; what is not there is lost, and flagged as such. `not_found`, and `conflict` while the host
 * that is to be replaced is alive.
 */
export async function replaceNode(ctx: Context, id: number) {
  return transaction(ctx, 'fleet.replaceNode', async (tx) => {
    const node = await requireRow(tx, lockNode, { id });
    if (node.cluster_id !== null) {
      const message = `${node.name} is a member of a cluster, which says by itself who takes its place`;
      throw fail('conflict', { message });
    }
    const silentForMs = tx.clock.now().getTime() - (node.seen_at?.getTime() ?? 0);
    if (silentForMs < silentAfterS * 1_000) {
      const message = `${node.name} was heard of ${Math.max(0, Math.round(silentForMs / 1_000))} s ago. Stop it, and try again when it was silent for ${silentAfterS} s`;
      throw fail('conflict', { message });
    }
    await tx.db.run(forgetDataDir, { id });
    await record(tx, nodeReplaced, {
      subject: { type: 'node', id },
      organizationId: null,
      data: { name: node.name },
    });
    return readNode(tx, id);
  });
}
