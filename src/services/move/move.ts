import { paidFor, unpaidFor } from '../../billing/index.ts';
import { record } from '../../events/index.ts';
import { moveHeld } from '../../fleet/index.ts';
import { organizationsPermitting, ownerAddress, ownerOf, requireOpen } from '../../organizations/index.ts';
import { fail, type OrganizationContext, type TxContext, transaction } from '../../platform/index.ts';
import { serviceMovedAway, serviceMovedIn } from '../events.ts';
import { readService } from '../read.ts';
import { findWaitingRenewal } from '../renew/queries.ts';
import { requireAction } from '../states.ts';
import { factsOf, lockService } from '../suspend/lock.ts';
import { lockTerms, type Terms } from '../terms.ts';
import { findChange } from '../upgrade/queries.ts';
import { requireNoneUnderWay } from '../upgrade/underWay.ts';
import { handOver, hasTask, lockBoth } from './queries.ts';

/** What a room that looks after a kind of service does when one moves; the room above hands it over. */
export interface Mover {
  /** What is under way with it, in words; null when nothing is. The service's row is locked. */
  underWay(tx: TxContext, serviceId: number): Promise<string | null>;
  move(tx: TxContext, serviceId: number, organizationId: number): Promise<void>;
}

/**
 * Makes a service another organization's, which the caller rules as well: the machine runs on with its addresses, and what is due
 * from now on is the other's. What was paid stays with who paid it. All of it is one transaction, in which neither organization
 * is invoiced nor the service changed by anybody else. `not_found`, `forbidden`, `permission_denied`, `conflict`,
 * `organization_blocked`.
 */
export function moveService(
  ctx: OrganizationContext,
  id: number,
  to: number,
  movers: readonly Mover[],
): Promise<{ moved: boolean; organization_id: number }> {
  return transaction(ctx, 'services.move', async (tx) => {
    const from = tx.organizationId;
    await readService(tx, id);
    if (to === from) throw fail('conflict', { message: 'The service is this organization’s already' });
    await lockBoth(tx, from, to);
    const ruled = await organizationsPermitting(tx, 'organization.manage');
    if (!ruled.includes(from)) throw fail('permission_denied');
    if (!ruled.includes(to))
      throw fail('permission_denied', {
        message: 'Only an owner or administrator of both organizations moves a service from one to the other',
      });
    for (const organizationId of [from, to]) await requireOpen(tx, organizationId);
    const terms = await lockTerms(tx, id);
    requireAction('move', terms, tx.clock.now());
    await requireNothingOpen(tx, terms);
    for (const mover of movers) {
      const reason = await mover.underWay(tx, id);
      if (reason !== null) throw conflict(reason);
    }
    await handOver(tx, { id, from, to, userId: tx.actor.userId });
    await moveHeld(tx, id, to);
    for (const mover of movers) await mover.move(tx, id, to);
    await tell(tx, id, from, to);
    return { moved: true, organization_id: to };
  });
}

/** What is to be paid, or was paid and is not carried out, is between this organization and the provider. */
async function requireNothingOpen(tx: TxContext, { id }: Terms): Promise<void> {
  const [unpaid] = await unpaidFor(tx, id);
  if (unpaid !== undefined)
    throw conflict(`Invoice ${unpaid.id} for this service is open; pay or cancel it first`);
  await requireNoneUnderWay(tx, id);
  if ((await findWaitingRenewal(tx, { serviceId: id })) !== null)
    throw conflict('Its renewal was paid and is being carried out; try again shortly');
  if ((await findChange(tx, { serviceId: id })) !== null)
    throw conflict('It is about to become another product; wait for that, or take it back');
  if (await hasTask(tx, id)) throw conflict('Our staff is at work on it; try again once that is done');
  if ((await paidFor(tx, id)).some(({ disputedMinor }) => disputedMinor > 0))
    throw conflict('A bank asks about a payment for this service; wait for its answer');
}

async function tell(tx: TxContext, id: number, from: number, to: number): Promise<void> {
  const facts = factsOf(await lockService(tx, id));
  const subject = { type: 'service', id };
  const [here, there] = [await ownerAddress(tx, from), await ownerAddress(tx, to)];
  await record(tx, serviceMovedAway, {
    ...{ subject, organizationId: from },
    data: { ...facts, user_id: await ownerOf(tx, from), organization_id: to, organization: there.name },
  });
  await record(tx, serviceMovedIn, {
    ...{ subject, organizationId: to },
    data: { ...facts, user_id: await ownerOf(tx, to), organization_id: from, organization: here.name },
  });
}

function conflict(message: string) {
  return fail('conflict', { message });
}
