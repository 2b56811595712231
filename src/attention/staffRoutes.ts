import { Type } from 'typebox';
import { Choice, Id, Nullable, named, type RouteGroup, routes, Timestamp } from '../platform/http/index.ts';
import type { ConcernSource } from '../platform/index.ts';
import { examples } from './examples.ts';
import { type HouseSources, readHouse } from './house.ts';
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

const LowShape = named(
  'RunsLow',
  Type.Object({
    kind: Choice(['node', 'pool']),
    id: Id,
    name: Type.String(),
    what: Choice(['memory', 'disk', 'addresses']),
    taken_percent: Type.Integer({ description: 'Of what it may give away' }),
    free: Type.Integer({ description: 'Of memory in MiB, of disk in GiB' }),
  }),
  'A node of which 85 % is given away, or an IPv4 pool of which a tenth is left',
);

const HouseShape = named(
  'HouseState',
  Type.Object({
    queue_s: Type.Number({ description: 'How long the job that waits longest has waited, in seconds' }),
    workers: Type.Integer({ description: 'Workers that live' }),
    mails: Type.Object({
      waiting: Type.Integer(),
      failed: Type.Integer({ description: 'For good; those that came back are among them' }),
    }),
    low: Type.Array(LowShape, { description: 'What runs low, the fullest first; at most twenty' }),
  }),
  'How the product itself does; more of it is at `/metrics`',
);

const group = {
  tag: 'Staff: what needs a person',
  about: 'What waits until one of your people looks at it.',
  examples,
};

export function attentionStaffRoutes(sources: readonly ConcernSource[], house: HouseSources): RouteGroup {
  return routes('/staff/attention', group, (route) => {
    route.get(
      '',
      {
        auth: 'staff',
        area: 'any',
        operation: 'listConcerns',
        summary: 'List what needs a person',
        description:
          'Of each kind the newest hundred; something leaves the list when it is put right. And how the product itself does.',
        data: named('ConcernList', Type.Object({ concerns: Type.Array(ConcernShape), house: HouseShape })),
      },
      async (ctx) => ({ ...(await listConcerns(ctx, sources)), house: await readHouse(ctx, house) }),
    );
  });
}
