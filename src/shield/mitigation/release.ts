import { record } from '../../events/index.ts';
import {
  type OrganizationContext,
  requireOwn,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { mitigationReleaseAsked } from '../events.ts';
import { single } from '../prefix.ts';
import { type ShownRow, shownColumns, viewMitigation } from './view.ts';
import { describeMeasure } from './words.ts';

export const mitigationById = statement<ShownRow, { id: number }>(
  'shield.mitigationById',
  `select ${shownColumns} from shield_mitigations m where m.id = :id for update`,
);
const ask = statement<never, { id: number; by: 'owner' | 'staff'; now: Date }>(
  'shield.askRelease',
  'update shield_mitigations set asked_at = :now, asked_by = :by where id = :id',
);

/**
 * Wants a mitigation released: whoever follows the attack does so within seconds, and does not begin it again while that attack goes
 * on. One that is released already stays so. `not_found`, `forbidden`.
 */
export function releaseMitigation(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'shield.releaseMitigation', async (tx) =>
    askForRelease(tx, await requireOwn(tx, mitigationById, { id }), 'owner'),
  );
}

export async function askForRelease(tx: TxContext, row: ShownRow, by: 'owner' | 'staff') {
  if (row.released_at !== null || row.asked_at !== null) return { mitigation: viewMitigation(row) };
  const now = tx.clock.now();
  await tx.db.run(ask, { id: row.id, by, now });
  await record(tx, mitigationReleaseAsked, {
    subject: { type: 'service', id: row.service_id },
    organizationId: row.organization_id,
    data: {
      ...{ mitigation_id: row.id, attack_id: String(row.attack_id), address: single(row.address).text },
      ...{ measure: row.measure, description: describeMeasure(row) },
    },
  });
  return { mitigation: viewMitigation({ ...row, asked_at: now }) };
}
