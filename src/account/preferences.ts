import { type Notification, notifications } from '../events/index.ts';
import { forgetPrincipals } from '../platform/http/index.ts';
import { type AccountContext, statement, transaction } from '../platform/index.ts';
import { recordChange } from './users.ts';

/** How somebody wants to be shown and told things. */
export interface Preferences {
  email_subscribed: boolean;
  show_cancelled_items: boolean;
  language: string;
  timezone: string;
  theme: 'system' | 'light' | 'dark';
  notifications: Partial<Record<Notification, boolean>>;
}

const lockPreferences = statement<Preferences, { userId: number }>(
  'account.lockPreferences',
  `select email_subscribed, show_cancelled_items, language, timezone, theme, notifications from users
   where id = :userId for no key update`,
);
const writePreferences = statement<never, Preferences & { userId: number; now: Date }>(
  'account.writePreferences',
  `update users set email_subscribed = :email_subscribed, show_cancelled_items = :show_cancelled_items,
     language = :language, timezone = :timezone, theme = :theme, notifications = :notifications, updated_at = :now
   where id = :userId`,
);

/** Changes some of the caller's preferences; of `notifications` too only those that are named. */
export function changePreferences(ctx: AccountContext, change: Partial<Preferences>) {
  return transaction(ctx, 'account.changePreferences', async (tx) => {
    const { userId } = tx.actor;
    const before = await tx.db.one(lockPreferences, { userId });
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
  const { email_subscribed, show_cancelled_items, language, timezone, theme } = preferences;
  const wanted = notifications.map((about) => [about, preferences.notifications[about] ?? true]);
  return {
    ...{ email_subscribed, show_cancelled_items, language, timezone, theme },
    notifications: Object.fromEntries(wanted) as Record<Notification, boolean>,
  };
}
