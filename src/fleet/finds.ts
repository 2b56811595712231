import type { StaffFindSource } from '../platform/http/index.ts';
import { statement } from '../platform/index.ts';

const nodesNamed = statement<
  { id: number; name: string; location: string; state: string },
  { words: string; limit: number }
>(
  'fleet.nodesNamed',
  `select id, name, location, state from nodes where starts_with(lower(name), lower(:words)) order by name limit :limit`,
);

/** Hosts by the beginning of their name. */
export const nodeStaffFinds = {
  kind: 'node',
  staffRoles: ['administrator', 'operator'],
  find: async (ctx, words, limit) =>
    (await ctx.db.many(nodesNamed, { words, limit })).map(({ id, name, location, state }) => ({
      ...{ id: String(id), title: name, detail: location, status: state },
    })),
} as const satisfies StaffFindSource;
