import { record } from '../events/index.ts';
import { type Context, statement, transaction } from '../platform/index.ts';
import { nodeFit, nodeTroubled } from './events.ts';

const troubleOf = statement<{ name: string; trouble: string | null }, { nodeId: number }>(
  'fleet.troubleOf',
  'select name, trouble from nodes where id = :nodeId',
);
const writeTrouble = statement<
  { name: string; before: string | null },
  { nodeId: number; trouble: string | null; now: Date }
>(
  'fleet.writeTrouble',
  `update nodes n set trouble = :trouble,
     troubled_at = case when :trouble::text is null then null else coalesce(n.troubled_at, :now) end
   from (select id, trouble from nodes where id = :nodeId for no key update) found
   where n.id = found.id and found.trouble is distinct from :trouble
   returning n.name, found.trouble as before`,
);

/**
 * Writes down what the host of a node lacks, a sentence each. As long as there is anything, the node gets no new
 * machines; those that it has stay. Nothing is written when nothing has changed.
 */
export async function writeTroubles(
  ctx: Context,
  nodeId: number,
  troubles: readonly string[],
): Promise<void> {
  const trouble = troubles.length === 0 ? null : troubles.join('. ');
  if ((await ctx.db.one(troubleOf, { nodeId })).trouble === trouble) return;
  await transaction(ctx, 'fleet.writeTroubles', async (tx) => {
    const written = await tx.db.maybe(writeTrouble, { nodeId, trouble, now: tx.clock.now() });
    if (written === null) return;
    const { name, before } = written;
    const subject = { type: 'node', id: nodeId } as const;
    if (trouble === null) {
      await record(tx, nodeFit, { subject, organizationId: null, data: { name } });
      tx.log.info({ node: name }, 'a node takes new machines again');
      return;
    }
    tx.log.error({ node: name, trouble }, 'a node takes no new machines');
    if (before === null)
      await record(tx, nodeTroubled, { subject, organizationId: null, data: { name, trouble } });
  });
}

const sureForMs = 60_000;

/** The same again and again, for a node that only this process writes of: what was written is asked for now and then. */
export function troubleNoter(ctx: Context, nodeId: number): (troubles: readonly string[]) => Promise<void> {
  let written = '';
  let writtenAtMs = Number.NEGATIVE_INFINITY;
  return async (troubles) => {
    const now = JSON.stringify(troubles);
    if (now === written && performance.now() - writtenAtMs < sureForMs) return;
    await writeTroubles(ctx, nodeId, troubles);
    [written, writtenAtMs] = [now, performance.now()];
  };
}
