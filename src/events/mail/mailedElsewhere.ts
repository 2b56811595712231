import { type Context, statement } from '../../platform/index.ts';

const mailedSince = statement<
  { by_organization: number; to_address: number },
  { organizationId: number; address: string; since: Date; limit: number }
>(
  'events.mailedElsewhere',
  `select
     (select count(*)::int from (select 1 from mails m where m.organization_id = :organizationId and m.created_at > :since
        and not exists (select 1 from users u where u.id = m.user_id and u.email = m.recipient) limit :limit) theirs
     ) as by_organization,
     (select count(*)::int from (select 1 from mails where recipient = :address and created_at > :since limit :limit) all_of_it
     ) as to_address`,
);

/**
 * How many mails were written since then for an organization to addresses that are nobody's account, and to one address for
 * whomever. Counted up to `limit`.
 */
export async function mailedElsewhere(
  ctx: Context,
  given: { organizationId: number; address: string; since: Date; limit: number },
): Promise<{ byOrganization: number; toAddress: number }> {
  const { by_organization: byOrganization, to_address: toAddress } = await ctx.db.one(mailedSince, given);
  return { byOrganization, toAddress };
}
