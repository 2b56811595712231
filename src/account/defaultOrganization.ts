import { statement, type TxContext } from '../platform/index.ts';

const forget = statement<never, { userId: number; organizationId: number }>(
  'account.forgetDefaultOrganization',
  `update users set default_organization_id = null
   where id = :userId and default_organization_id = :organizationId`,
);

/** A person who is no longer in an organization does not act for it by default either. */
export async function forgetDefaultOrganization(
  tx: TxContext,
  userId: number,
  organizationId: number,
): Promise<void> {
  await tx.db.run(forget, { userId, organizationId });
}
