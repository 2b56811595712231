import {
  type FindSource,
  type Found,
  type RouteGroup,
  routes,
  type StaffFindSource,
} from '../platform/http/index.ts';
import { examples } from './examples.ts';
import * as S from './schema.ts';

/** Of each kind. */
const most = 5;

const group = {
  tag: 'Search',
  about: 'Everything by its name, its number or its address.',
  examples,
};

export function searchRoutes(
  sources: readonly FindSource[],
  staffSources: readonly StaffFindSource[],
): RouteGroup[] {
  const Mine = S.foundOf({ each: 'Find', all: 'Finds' }, kindsOf(sources));
  const Every = S.foundOf({ each: 'StaffFind', all: 'StaffFinds' }, kindsOf(staffSources));
  return [
    routes('/dashboard/search', group, (route) => {
      route.get(
        '',
        {
          auth: 'organization',
          // Every role has it; each kind takes its own besides.
          permission: 'service.read',
          operation: 'search',
          summary: 'Search the organization',
          description:
            'Services, invoices, tickets, members, addresses and rules of Shield that the caller may read: five of each at most, ' +
            'those of one kind in the order of its list.',
          query: S.SearchQuery,
          data: Mine,
        },
        (ctx, { principal, query }) => {
          const open = sources.filter(({ permission }) => principal.permissions?.has(permission));
          return gather(open, ({ find }) => find(ctx, query.q.trim(), most));
        },
      );
    }),
    routes('/staff/search', group, (route) => {
      route.get(
        '',
        {
          auth: 'staff',
          operation: 'searchAsStaff',
          summary: 'Search everything as staff',
          description:
            'Customers, people, services, invoices, tickets and nodes that the caller’s role may read: five of each at most.',
          query: S.SearchQuery,
          data: Every,
        },
        (ctx, { principal, query }) => {
          const role = principal.staffRole ?? '';
          const open = staffSources.filter(({ staffRoles }) => staffRoles?.includes(role) ?? true);
          return gather(open, ({ find }) => find(ctx, query.q.trim(), most));
        },
      );
    }),
  ];
}

async function gather<S extends { kind: string }>(
  sources: readonly S[],
  find: (source: S) => Promise<Found[]>,
) {
  const found = await Promise.all(
    sources.map(async (source) => (await find(source)).map((each) => ({ kind: source.kind, ...each }))),
  );
  return { found: found.flat() };
}

function kindsOf(sources: readonly { kind: string }[]): string[] {
  return sources.map(({ kind }) => kind);
}
