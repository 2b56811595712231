import { journalPosition } from '../events/index.ts';
import type { Principal } from '../platform/http/index.ts';
import { type AccountContext, statement } from '../platform/index.ts';
import { allKeys } from './apiKeys/ownKeys.ts';
import { isSecured } from './factors/factor.ts';
import { shownPasskey } from './passkeys/list.ts';
import { passkeysOf } from './passkeys/rows.ts';
import { type Preferences, shown } from './preferences.ts';
import { isStaffRole } from './users.ts';

interface AccountRow extends Preferences {
  id: number;
  email: string;
  first_name: string;
  last_name: string;
  phone: string | null;
  billing_email: string | null;
  abuse_email: string | null;
  status: 'active' | 'blocked' | 'closed';
  email_verified: boolean;
  pending_email: string | null;
  has_factor: boolean;
  last_activity_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

const readAccountRow = statement<AccountRow, { userId: number; now: Date }>(
  'account.read',
  `select u.*,
     (select e.new_email from email_changes e where e.user_id = u.id and e.state in ('asked', 'taken') and e.until > :now
        order by e.created_at desc limit 1) as pending_email,
     ${isSecured('u.id')} as has_factor
   from users u where u.id = :userId`,
);

/** What an account shows of rooms upstairs. */
export interface Upstairs {
  /** The credit, as text: `12.34`. */
  readCredit: (ctx: AccountContext) => Promise<string>;
  /** The names of staff's operations that somebody may call. */
  operationsOf: (principal: Principal) => string[];
}

/**
 * The account of whoever asks, with its API keys shortened to what identifies them. Staff that acts as a customer is shown
 * neither keys nor passkeys.
 */
export async function readAccount(
  ctx: AccountContext,
  principal: Principal,
  { readCredit, operationsOf }: Upstairs,
) {
  const { staffRole } = principal;
  const isOwn = ctx.actor.staffId === undefined;
  // Before anything is read that it is to be the position of.
  const position = await journalPosition(ctx);
  const [row, apikeys, credit, passkeys] = await Promise.all([
    ctx.db.one(readAccountRow, { userId: ctx.actor.userId, now: ctx.clock.now() }),
    isOwn ? allKeys(ctx) : [],
    readCredit(ctx),
    isOwn ? passkeysOf(ctx, ctx.actor.userId) : [],
  ]);
  return {
    twofa_status: row.has_factor,
    user: {
      id: row.id,
      first_name: row.first_name,
      last_name: row.last_name,
      email: row.email,
      billing_email: row.billing_email,
      abuse_email: row.abuse_email,
      phone: row.phone,
      status: row.status,
      credit,
      email_verified: row.email_verified,
      email_subscribed: row.email_subscribed,
      twoFactorAuthentication: row.has_factor,
      lastActivity: row.last_activity_at?.toISOString() ?? null,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
      show_cancelled_items: row.show_cancelled_items,
      pending_email: row.pending_email,
    },
    preferences: shown(row),
    apikeys,
    passkeys: passkeys.map(shownPasskey),
    staff:
      staffRole !== null && isStaffRole(staffRole)
        ? { role: staffRole, operations: operationsOf(principal) }
        : null,
    events_position: position,
  };
}
