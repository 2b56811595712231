import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type OrganizationContext, requireOwn, statement } from '../../platform/index.ts';
import { requireChosen } from '../chosen.ts';
import type { Role } from '../permissions.ts';

/** An owner is made of a member, by an owner. */
export type InvitedRole = Exclude<Role, 'owner'>;

export interface InvitationRow {
  id: number;
  organization_id: number;
  email: string;
  role: InvitedRole;
  sendings: number;
  inviter_id: number;
  inviter_first_name: string;
  inviter_last_name: string;
  sent_at: Date;
  expires_at: Date;
  created_at: Date;
}

const select = `select t.id, t.organization_id, t.email, t.role, t.sendings, t.invited_by as inviter_id,
    u.first_name as inviter_first_name, u.last_name as inviter_last_name, t.sent_at, t.expires_at, t.created_at
  from invitations t join users u on u.id = t.invited_by`;

const invitations = pagedList<InvitationRow>({
  name: 'organizations.invitations',
  from: 'invitations t',
  select,
  within: 't.organization_id = :organizationId',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});
const invitationById = statement<InvitationRow, { id: number }>(
  'organizations.invitation',
  `${select} where t.id = :id`,
);

/** Invitations that nobody accepted yet, also those that have expired. `not_found`, `forbidden`. */
export async function listInvitations(ctx: OrganizationContext, id: number, query: ListRequest) {
  await requireChosen(ctx, id);
  const { rows, at } = await invitations(ctx, query, { organizationId: id });
  const now = ctx.clock.now();
  return listData(
    'invitations',
    rows.map((row) => viewInvitation(row, now)),
    at,
  );
}

/** One of them. `not_found`, `forbidden`. */
export async function readInvitation(ctx: OrganizationContext, id: number, invitationId: number) {
  return { invitation: viewInvitation(await requireInvitation(ctx, id, invitationId), ctx.clock.now()) };
}

/** Its row. `not_found`, `forbidden`. */
export async function requireInvitation(
  ctx: OrganizationContext,
  id: number,
  invitationId: number,
): Promise<InvitationRow> {
  await requireChosen(ctx, id);
  return requireOwn(ctx, invitationById, { id: invitationId });
}

function viewInvitation(row: InvitationRow, now: Date) {
  const {
    organization_id: _,
    sendings: __,
    inviter_id,
    inviter_first_name,
    inviter_last_name,
    ...rest
  } = row;
  const invited_by = { id: inviter_id, first_name: inviter_first_name, last_name: inviter_last_name };
  return { ...rest, invited_by, expired: row.expires_at <= now };
}
