import { paidFor, unpaidFor } from '../../billing/index.ts';
import { record } from '../../events/index.ts';
import { moveHeld } from '../../fleet/index.ts';
import {
  organizationsPermitting,
  ownerAddress,
  ownerOf,
  requireOpen,
  requireOwner,
} from '../../organizations/index.ts';
import { fail, type OrganizationContext, type TxContext, transaction } from '../../platform/index.ts';
import { serviceMovedAway, serviceMovedIn } from '../events.ts';
import { readService } from '../read.ts';
import { findWaitingRenewal } from '../renew/queries.ts';
import { requireAction } from '../states.ts';
import { factsOf, lockService } from '../suspend/lock.ts';
import { lockTerms, type Terms } from '../terms.ts';
import { monthsToBill } from '../traffic/bill.ts';
import { findChange } from '../upgrade/queries.ts';
import { requireNoneUnderWay } from '../upgrade/underWay.ts';
import { handOver, hasTask, lockBoth } from './queries.ts';

/** What a room that looks after a kind of service does when one moves; the room above hands it over. */
export interface Mover {
  /** Why it does not go now, and what to do about it; null when nothing is against it. The service's row is locked. */
  obstacle(tx: TxContext, serviceId: number): Promise<string | null>;
  move(tx: TxContext, serviceId: number, organizationId: number): Promise<void>;
}

/**
 * Makes a service of an organization that the caller owns another one's, which they rule as well: the machine runs on with its addresses, and what is due
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
    const { service } = await readService(tx, id);
    const { coming_price: coming, currency } = service;
    if (to === from) throw fail('conflict', { message: 'The service is this organization’s already' });
    await lockBoth(tx, from, to);
    const ruled = await organizationsPermitting(tx, 'organization.manage');
    if (!ruled.includes(from)) throw fail('permission_denied');
    await requireOwner(tx, 'Only an owner of the organization that has the service gives it away');
    if (!ruled.includes(to))
      throw fail('permission_denied', {
        message: 'Only an owner or administrator of both organizations moves a service from one to the other',
      });
    for (const organizationId of [from, to]) await requireOpen(tx, organizationId);
    const terms = await lockTerms(tx, id);
    requireAction('move', terms, tx.clock.now());
    await requireNothingOpen(tx, terms);
    for (const mover of movers) {
      const reason = await mover.obstacle(tx, id);
      if (reason !== null) throw conflict(reason);
    }
    await handOver(tx, { id, from, to, userId: tx.actor.userId });
    await moveHeld(tx, id, to);
    for (const mover of movers) await mover.move(tx, id, to);
    await tell(tx, id, { from, to, coming: coming === null ? null : { ...coming, currency } });
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
  const [month] = await monthsToBill(tx, id);
  if (month !== undefined)
    throw conflict(`Its traffic of ${month} is on no invoice yet; renew it, pay for that, and try again`);
  if (await hasTask(tx, id)) throw conflict('Our staff is at work on it; try again once that is done');
  if ((await paidFor(tx, id)).some(({ disputedMinor }) => disputedMinor > 0))
    throw conflict('A bank asks about a payment for this service; wait for its answer');
}

interface Moved {
  from: number;
  to: number;
  /** A new price that was announced, which whoever has it now is told of too. */
  coming: { price: string; currency: string; from: string } | null;
}

async function tell(tx: TxContext, id: number, { from, to, coming }: Moved): Promise<void> {
  const facts = factsOf(await lockService(tx, id));
  const subject = { type: 'service', id };
  const [here, there] = [await ownerAddress(tx, from), await ownerAddress(tx, to)];
  await record(tx, serviceMovedAway, {
    ...{ subject, organizationId: from },
    data: { ...facts, user_id: await ownerOf(tx, from), organization_id: to, organization: there.name },
  });
  await record(tx, serviceMovedIn, {
    ...{ subject, organizationId: to },
    data: {
      ...facts,
      user_id: await ownerOf(tx, to),
      organization_id: from,
      organization: here.name,
      coming_price: coming,
    },
  });
}

function conflict(message: string) {
  return fail('conflict', { message });
}
