import { type Event, record } from '../../events/index.ts';
import {
  fail,
  isDuplicate,
  newId,
  type OrganizationContext,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { lockOrganization, requireChosen } from '../chosen.ts';
import { type InvitationSent, invitationSentAgain, invitationWithdrawn, memberInvited } from '../events.ts';
import { requireRuler } from '../members/ruler.ts';
import { hashOfLink } from './link.ts';
import { type InvitedRole, readInvitation, requireInvitation } from './list.ts';

const daysGood = 7;
const atMost = 100;

const insertInvitation = statement<
  never,
  {
    id: number;
    organizationId: number;
    email: string;
    role: InvitedRole;
    hash: Buffer;
    invitedBy: number;
    expiresAt: Date;
    now: Date;
  }
>(
  'organizations.insertInvitation',
  `insert into invitations (id, organization_id, email, role, hash, sendings, invited_by, sent_at, expires_at, created_at)
   values (:id, :organizationId, :email, :role, :hash, 1, :invitedBy, :now, :expiresAt, :now)`,
);
const sendAgain = statement<
  never,
  { id: number; hash: Buffer; sendings: number; invitedBy: number; expiresAt: Date; now: Date }
>(
  'organizations.sendInvitationAgain',
  `update invitations set hash = :hash, sendings = :sendings, invited_by = :invitedBy, sent_at = :now,
     expires_at = :expiresAt
   where id = :id`,
);
const deleteInvitation = statement<never, { id: number }>(
  'organizations.deleteInvitation',
  'delete from invitations where id = :id',
);
const standing = statement<
  { invitations: number; is_member: boolean },
  { organizationId: number; email: string }
>(
  'organizations.standingOfAddress',
  `select (select count(*)::int from invitations where organization_id = :organizationId) as invitations,
     exists (select 1 from memberships m join users u on u.id = m.user_id
       where m.organization_id = :organizationId and lower(u.email) = lower(:email)) as is_member`,
);
const nameOf = statement<{ name: string }, { userId: number }>(
  'organizations.nameOfInviter',
  `select trim(first_name || ' ' || last_name) as name from users where id = :userId`,
);

/**
 * Invites whoever reads the mails of an address. Says nothing about whether there is an account with it. `already_member`,
 * `already_invited`, `too_many`.
 */
export function invite(ctx: OrganizationContext, id: number, wish: { email: string; role: InvitedRole }) {
  return ofOrganization(ctx, 'organizations.invite', id, async (tx, organization) => {
    const { email, role } = wish;
    const { invitations, is_member } = await tx.db.one(standing, { organizationId: id, email });
    if (is_member) throw fail('already_member');
    if (invitations >= atMost)
      throw fail('too_many', { message: `At most ${atMost} invitations are open at a time; withdraw one` });
    const invitationId = newId();
    const now = tx.clock.now();
    try {
      await tx.db.run(insertInvitation, {
        ...{ id: invitationId, organizationId: id, email, role, hash: hashOfLink(tx, invitationId, 1) },
        ...{ invitedBy: tx.actor.userId, expiresAt: endOf(now), now },
      });
    } catch (error) {
      throw isDuplicate(error, 'invitations_address') ? fail('already_invited', { cause: error }) : error;
    }
    await tell(tx, memberInvited, invitationId, { organization, email, role, sending: 1 });
    return readInvitation(tx, id, invitationId);
  });
}

/** Sends it once more, for another week; the link of the mail before is good no more. `not_found`, `forbidden`. */
export function sendInvitationAgain(ctx: OrganizationContext, id: number, invitationId: number) {
  return ofOrganization(ctx, 'organizations.sendInvitationAgain', id, async (tx, organization) => {
    const { email, role, sendings } = await requireInvitation(tx, id, invitationId);
    const sending = sendings + 1;
    const now = tx.clock.now();
    const hash = hashOfLink(tx, invitationId, sending);
    await tx.db.run(sendAgain, {
      ...{ id: invitationId, hash, sendings: sending, invitedBy: tx.actor.userId },
      ...{ expiresAt: endOf(now), now },
    });
    await tell(tx, invitationSentAgain, invitationId, { organization, email, role, sending });
    return readInvitation(tx, id, invitationId);
  });
}

/** Takes it back: its link is good no more. `not_found`, `forbidden`. */
export function withdrawInvitation(ctx: OrganizationContext, id: number, invitationId: number) {
  return ofOrganization(ctx, 'organizations.withdrawInvitation', id, async (tx) => {
    const { email, role } = await requireInvitation(tx, id, invitationId);
    await tx.db.run(deleteInvitation, { id: invitationId });
    const subject = { type: 'invitation', id: invitationId };
    await record(tx, invitationWithdrawn, { subject, data: { email, role } });
    return { withdrawn: true };
  });
}

/** One change at a time, by somebody who may still make it when it is their turn. */
function ofOrganization<T>(
  ctx: OrganizationContext,
  name: string,
  id: number,
  work: (tx: OrganizationContext & TxContext, organization: string) => Promise<T>,
): Promise<T> {
  return transaction(ctx, name, async (tx) => {
    await requireChosen(tx, id);
    const organization = await lockOrganization(tx, id);
    await requireRuler(tx);
    return work(tx, organization.name);
  });
}

async function tell(
  tx: OrganizationContext & TxContext,
  event: Event<InvitationSent>,
  id: number,
  data: Omit<InvitationSent, 'invited_by'>,
): Promise<void> {
  const { name: invited_by } = await tx.db.one(nameOf, { userId: tx.actor.userId });
  await record(tx, event, { subject: { type: 'invitation', id }, data: { ...data, invited_by } });
}

function endOf(now: Date): Date {
  return new Date(now.getTime() + daysGood * 86_400_000);
}
