import { type Notification, notifications } from '../events/index.ts';
import { forgetPrincipals } from '../platform/http/index.ts';
import { type AccountContext, statement, transaction } from '../platform/index.ts';
import { requireMember } from './membership.ts';
import { lockUser, recordChange } from './users.ts';

/** How somebody wants to be shown and told things. */
export interface Preferences {
  email_subscribed: boolean;
  show_cancelled_items: boolean;
  language: string;
  timezone: string;
  theme: 'system' | 'light' | 'dark';
  notifications: Partial<Record<Notification, boolean>>;
  /** For whom they act where a request may leave that out, as checkout may. */
  default_organization_id: number | null;
}

const preferencesOf = statement<Preferences, { userId: number }>(
  'account.preferences',
  `select email_subscribed, show_cancelled_items, language, timezone, theme, notifications, default_organization_id
   from users where id = :userId`,
);
const writePreferences = statement<never, Preferences & { userId: number; now: Date }>(
  'account.writePreferences',
  `update users set email_subscribed = :email_subscribed, show_cancelled_items = :show_cancelled_items,
     language = :language, timezone = :timezone, theme = :theme, notifications = :notifications,
     default_organization_id = :default_organization_id, updated_at = :now
   where id = :userId`,
);

/** Changes some of the caller's preferences; of `notifications` too only those that are named. `invalid_request`. */
export function changePreferences(ctx: AccountContext, change: Partial<Preferences>) {
  return transaction(ctx, 'account.changePreferences', async (tx) => {
    const { userId } = tx.actor;
    await lockUser(tx, userId);
    const { default_organization_id: chosen = null } = change;
    if (chosen !== null) await requireMember(tx, userId, [chosen], 'default_organization_id');
    const before = await tx.db.one(preferencesOf, { userId });
    const wanted = { ...before.notifications, ...change.notifications };
    const after: Preferences = { ...before, ...change, notifications: wanted };
    const fields = (Object.keys(after) as (keyof Preferences)[]).filter(
      (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
    );
    if (fields.length > 0) {
      await tx.db.run(writePreferences, { ...after, userId, now: tx.clock.now() });
      tx.db.afterCommit(forgetPrincipals); // who asks is remembered with what lists show them
      await recordChange(tx, fields);
    }
    return { preferences: shown(after) };
  });
}

/** With every notification, those that were never spoken of too. */
export function shown(preferences: Preferences) {
  const { email_subscribed, show_cancelled_items, language, timezone, theme, default_organization_id } =
    preferences;
  const wanted = notifications.map((about) => [about, preferences.notifications[about] ?? true]);
  return {
    ...{ email_subscribed, show_cancelled_items, language, timezone, theme, default_organization_id },
    notifications: Object.fromEntries(wanted) as Record<Notification, boolean>,
  };
}
