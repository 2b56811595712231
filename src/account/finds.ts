import { firstOf, type StaffFindSource } from '../platform/http/index.ts';
import { listUsers } from './userStaff.ts';

/** People by the beginning of their name or address. */
export const peopleStaffFinds = {
  kind: 'user',
  staffRoles: ['administrator', 'billing', 'support'],
  find: async (ctx, words, limit) => {
    const { users } = await listUsers(ctx, firstOf(words, limit));
    return users.map(({ id, first_name, last_name, email, status }) => ({
      ...{ id: String(id), title: `${first_name} ${last_name}`.trim() || email, detail: email, status },
    }));
  },
} as const satisfies StaffFindSource;
