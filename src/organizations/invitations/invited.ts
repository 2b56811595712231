import { type Context, statement } from '../../platform/index.ts';

const invitedAddress = statement<{ is_invited: boolean }, { email: string; now: Date }>(
  'organizations.invitedAddress',
  `select exists (select 1 from invitations where lower(email) = lower(:email) and expires_at > :now) as is_invited`,
);

/** Whether an organization has invited whoever reads the mails of an address, and still waits for them. */
export async function isInvited(ctx: Context, email: string): Promise<boolean> {
  return (await ctx.db.one(invitedAddress, { email, now: ctx.clock.now() })).is_invited;
}
