import { fail, statement, type TxContext } from '../../platform/index.ts';
import { cleanName } from './name.ts';
import { lieOf } from './type.ts';

/** A file that was kept, with what its sender says of it. */
export interface Attaching {
  id: number;
  name: string;
  claimedType?: string | null | undefined;
}

/** What a reader is told of a file. */
export interface Attached {
  id: number;
  name: string;
}

interface UnusedRow {
  id: number;
  type: string;
}

const lockUnused = statement<UnusedRow, { ids: number[]; organizationId: number }>(
  'tickets.lockUnusedAttachments',
  `select id, type from ticket_attachments where id = any(:ids::bigint[]) and organization_id = :organizationId
     and message_id is null and kept_at is not null and forgotten_at is null order by id for update`,
);
const attach = statement<never, { ids: number[]; names: string[]; messageId: number }>(
  'tickets.attach',
  `update ticket_attachments a set message_id = :messageId, name = g.name
   from unnest(:ids::bigint[], :names::text[]) g (id, name) where a.id = g.id`,
);

/** Which of these files are still there for a message of this organization; they stay until the transaction ends. */
export async function stillThere(
  tx: TxContext,
  organizationId: number,
  attaching: readonly Attaching[],
): Promise<ReadonlySet<number>> {
  if (attaching.length === 0) return new Set();
  const ids = attaching.map(({ id }) => id);
  return new Set((await tx.db.many(lockUnused, { ids, organizationId })).map(({ id }) => id));
}

/**
 * Puts files that were kept beside a message, under names that are safe. `attachment_refused` for one that is not what its name
 * or its sender says, unless `lies` are `kept`: of a mail nothing is lost.
 */
export async function attachTo(
  tx: TxContext,
  { organizationId, messageId }: { organizationId: number; messageId: number },
  attaching: readonly Attaching[],
  lies: 'refused' | 'kept',
): Promise<Attached[]> {
  if (attaching.length === 0) return [];
  const ids = attaching.map(({ id }) => id);
  const unused = new Map((await tx.db.many(lockUnused, { ids, organizationId })).map((row) => [row.id, row]));
  const attached = attaching.map((each, at) => {
    const row = unused.get(each.id);
    if (row === undefined)
      throw fail('attachments_unavailable', { cause: new Error(`${each.id} is not there`) });
    const name = cleanName(each.name);
    const lie = lieOf(row.type, { name, claimedType: each.claimedType });
    if (lie !== null && lies === 'refused') {
      const details = [{ field: `attachments[${at}]`, message: lie }];
      throw fail('attachment_refused', { details });
    }
    return { id: each.id, name };
  });
  await tx.db.run(attach, { ids, names: attached.map(({ name }) => name), messageId });
  return attached;
}
