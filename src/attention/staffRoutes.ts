import { Type } from 'typebox';
import { Id, Nullable, named, type RouteGroup, routes, Timestamp } from '../platform/http/index.ts';
import type { ConcernSource } from '../platform/index.ts';
import { examples } from './examples.ts';
import { listConcerns } from './list.ts';

const ConcernShape = named(
  'Concern',
  Type.Object({
    kind: Type.String({ description: 'Stable, such as job.failed or machine.error' }),
    subject: Type.Object({ type: Type.String(), id: Id }),
    organization_id: Nullable(Id),
    since: Timestamp,
    message: Type.String(),
  }),
  'Something that needs a person',
);

const group = {
  tag: 'Staff: what needs a person',
  about: 'What waits until one of your people looks at it.',
  examples,
};

export function attentionStaffRoutes(sources: readonly ConcernSource[]): RouteGroup {
  return routes('/staff/attention', group, (route) => {
    route.get(
      '',
      {
        auth: 'staff',
        area: 'any',
        operation: 'listConcerns',
        summary: 'List what needs a person',
        description: 'Of each kind the newest hundred. Something leaves the list when it is put right.',
        data: named('ConcernList', Type.Object({ concerns: Type.Array(ConcernShape) })),
      },
      (ctx) => listConcerns(ctx, sources),
    );
  });
}
