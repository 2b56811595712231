import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type AccountContext, fail, requireRow } from '../../platform/index.ts';
import { type PasskeyRow, passkeyById, selectPasskey } from './rows.ts';

const passkeys = pagedList<PasskeyRow>({
  name: 'account.passkeys',
  from: 'passkeys t',
  select: selectPasskey,
  within: 't.user_id = :userId',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});

export async function listPasskeys(ctx: AccountContext, query: ListRequest) {
  const { rows, at } = await passkeys(ctx, query, { userId: ctx.actor.userId });
  return listData('passkeys', rows.map(shownPasskey), at);
}

/** One of the caller's passkeys; `forbidden` when it is another person's. */
export async function readPasskey(ctx: AccountContext, id: number) {
  return { passkey: shownPasskey(await requirePasskey(ctx, id)) };
}

/** The row of a passkey of the caller's. `not_found`, `forbidden`. */
export async function requirePasskey(ctx: AccountContext, id: number): Promise<PasskeyRow> {
  const row = await requireRow(ctx, passkeyById, { id });
  if (row.user_id !== ctx.actor.userId) throw fail('forbidden');
  return row;
}

/** A passkey as its person sees it. */
export function shownPasskey({ id, name, synced, created_at, last_used_at, credential_id }: PasskeyRow) {
  return {
    ...{ id, name, synced, created_at, last_used: last_used_at },
    credential_id: credential_id.toString('base64url'),
  };
}
