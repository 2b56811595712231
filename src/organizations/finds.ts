import { type FindSource, firstOf, type StaffFindSource } from '../platform/http/index.ts';
import { statement } from '../platform/index.ts';
import { listAllOrganizations } from './organizationStaff.ts';

interface MemberRow {
  id: number;
  email: string;
  name: string;
  role: string;
}

// An organization has few members: they are looked through.
const membersNamed = statement<MemberRow, { organizationId: number; words: string; limit: number }>(
  'organizations.membersNamed',
  `select u.id, u.email, trim(u.first_name || ' ' || u.last_name) as name, m.role
   from memberships m join users u on u.id = m.user_id
   where m.organization_id = :organizationId and (starts_with(lower(u.email), lower(:words))
     or starts_with(lower(u.first_name || ' ' || u.last_name), lower(:words))
     or starts_with(lower(u.last_name), lower(:words)))
   order by lower(u.last_name), u.id limit :limit`,
);

/** Members of a customer's organization by the beginning of their name or address. */
export const memberFinds = {
  kind: 'member',
  permission: 'members.read',
  find: async (ctx, words, limit) => {
    const rows = await ctx.db.many(membersNamed, { organizationId: ctx.organizationId, words, limit });
    return rows.map(({ id, name, email }) => ({
      ...{ id: String(id), title: name || email, detail: email, status: null },
    }));
  },
} as const satisfies FindSource;

/** Customers by the beginning of their name. */
export const organizationStaffFinds = {
  kind: 'organization',
  find: async (ctx, words, limit) => {
    const { organizations } = await listAllOrganizations(ctx, firstOf(words, limit));
    return organizations.map(({ id, name }) => ({ id: String(id), title: name, detail: null, status: null }));
  },
} as const satisfies StaffFindSource;
