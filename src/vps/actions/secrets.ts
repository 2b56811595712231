import { type Context, type SealedValue, statement, type TxContext } from '../../platform/index.ts';

const insertSecrets = statement<never, { actionId: number; organizationId: number; sealed: Buffer }>(
  'vps.insertSecrets',
  'insert into vps_secrets (action_id, organization_id, sealed) values (:actionId, :organizationId, :sealed)',
);
const selectSecrets = statement<{ sealed: Buffer }, { actionId: number }>(
  'vps.selectSecrets',
  'select sealed from vps_secrets where action_id = :actionId',
);
const deleteSecrets = statement<never, { actionId: number }>(
  'vps.deleteSecrets',
  'delete from vps_secrets where action_id = :actionId',
);

/** Secrets of actions, to prove the secret key by. */
export const sealedSecrets = statement<SealedValue, { limit: number }>(
  'vps.sealed',
  `select sealed, 'action ' || action_id as context from vps_secrets limit :limit`,
);

/** What an action's job needs and nobody else may see: sealed until the action ends. */
export async function keepSecrets(
  ctx: TxContext,
  organizationId: number,
  actionId: number,
  secrets: object,
): Promise<void> {
  const sealed = ctx.seal.close(JSON.stringify(secrets), `action ${actionId}`);
  await ctx.db.run(insertSecrets, { actionId, organizationId, sealed });
}

export async function openSecrets<T extends object>(ctx: Context, actionId: number): Promise<Partial<T>> {
  const row = await ctx.db.maybe(selectSecrets, { actionId });
  return row === null ? {} : (JSON.parse(ctx.seal.open(row.sealed, `action ${actionId}`)) as Partial<T>);
}

/** Comes with the end of the action. */
export async function forgetSecrets(ctx: TxContext, actionId: number): Promise<void> {
  await ctx.db.run(deleteSecrets, { actionId });
}
