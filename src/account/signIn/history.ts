import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import type { AccountContext } from '../../platform/index.ts';

interface EntryRow {
  id: number;
  action: 'session.opened' | 'sign_in.refused';
  ip: string | null;
  data: {
    method?: 'password' | 'passkey';
    reason?: 'wrong_password' | 'wrong_code' | 'wrong_passkey';
    second_factor?: boolean;
    new_device?: boolean;
    user_agent: string | null;
  };
  created_at: Date;
}

const entries = pagedList<EntryRow>({
  name: 'account.signIns',
  from: 'journal t',
  select: 'select t.id, t.action, host(t.ip) as ip, t.data, t.created_at from journal t',
  within: `t.subject_type = 'user' and t.subject_id = :userId and t.action in ('session.opened', 'sign_in.refused')`,
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { created_at: null },
  order: '-created_at',
});

/** When and from where somebody signed in to the caller's account, or tried to; the newest first. */
export async function listSignIns(ctx: AccountContext, query: ListRequest) {
  const { rows, at } = await entries(ctx, query, { userId: ctx.actor.userId });
  return listData('sign_ins', rows.map(view), at);
}

function view({ action, ip, data, created_at }: EntryRow) {
  return {
    outcome: action === 'session.opened' ? ('signed_in' as const) : (data.reason ?? 'wrong_password'),
    method: data.method ?? null,
    second_factor: data.second_factor ?? false,
    new_device: data.new_device ?? false,
    ip,
    user_agent: data.user_agent,
    created_at,
  };
}
