import { Type } from 'typebox';
import {
  Choice,
  Day,
  type NeedSource,
  Nullable,
  named,
  type RouteGroup,
  routes,
} from '../platform/http/index.ts';
import { needExamples as examples } from './examples.ts';

/** Of each room. */
const most = 10;

const group = {
  tag: 'What needs you',
  about: 'What waits until somebody of the organization does something.',
  examples,
};

/** What waits for a customer, as each room says of its own. */
export function needRoutes(sources: readonly NeedSource[]): RouteGroup {
  const Need = named(
    'Need',
    Type.Object({
      kind: Choice(sources.flatMap(({ kinds }) => kinds)),
      id: Type.String({ description: 'As paths name it: an id, or the short code of a ticket' }),
      title: Type.String({ description: 'What it is called' }),
      detail: Nullable(Type.String({ description: 'An amount with its currency, or a reason' })),
      on: Nullable({ ...Day, description: 'When an invoice is due, or the last day of a card' }),
    }),
    'Something that waits for its customer',
  );
  return routes('/dashboard/attention', group, (route) => {
    route.get(
      '',
      {
        auth: 'organization',
        // Every role has it; each kind takes its own besides.
        permission: 'service.read',
        operation: 'listNeeds',
        summary: 'List what needs you',
        description:
          'Invoices to pay, services that were not built or are suspended, saved methods that end this month or the next, and ' +
          'tickets that were answered, as far as the caller may read them: ten of each room at most.',
        data: named('NeedList', Type.Object({ needs: Type.Array(Need) })),
      },
      async (ctx, { principal }) => {
        const open = sources.filter(({ permission }) => principal.permissions?.has(permission));
        const found = await Promise.all(open.map(({ find }) => find(ctx, most)));
        return { needs: found.flat() };
      },
    );
  });
}
