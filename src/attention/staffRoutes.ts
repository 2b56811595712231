import { Type } from 'typebox';
import {
  Choice,
  Id,
  Nullable,
  named,
  type Principal,
  type RouteGroup,
  routes,
  Timestamp,
} from '../platform/http/index.ts';
import { type ConcernSource, type Context, type LackSource, mendingPages } from '../platform/index.ts';
import { examples } from './examples.ts';
import { type HouseSources, rememberHouse } from './house.ts';
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
    free: Type.Integer({ description: 'Of memory in MiB, of disk in GiB, of addresses as many' }),
    full_in_days: Nullable(
      Type.Integer({
        description: 'If it goes on as in the last four weeks; null: it does not grow, or it is not known',
      }),
    ),
  }),
  'A node of which 85 % is given away, an IPv4 pool of which a tenth is left, or one that is full within 30 days',
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
    backups: Type.Object({
      late: Type.Integer({
        description:
          'Machines that are to have nightly backups, whose newest good one is older than 36 hours',
      }),
    }),
    low: Nullable(
      Type.Array(LowShape, {
        description: 'What runs low, the fullest first; at most twenty; null for who may not list nodes',
      }),
    ),
  }),
  'How the product itself does, as it was at most 15 seconds ago; more of it is at `/metrics`',
);

const group = {
  tag: 'Staff: what needs a person',
  about: 'What waits until one of your people looks at it.',
  examples,
};

/** What is known above of what staff is told. */
export interface Upstairs {
  concerns: readonly ConcernSource[];
  house: HouseSources;
  /** In the order in which they are mended. */
  lacks: readonly LackSource[];
  /** The names of staff's operations that somebody may call. */
  operationsOf(principal: Principal): string[];
}

export function attentionStaffRoutes({ concerns, house, lacks, operationsOf }: Upstairs): RouteGroup {
  const LackShape = named(
    'Lack',
    Type.Object({
      code: Choice(lacks.flatMap(({ codes }) => codes)),
      message: Type.String({ description: 'What is lacking and what to do' }),
      page: Nullable(
        Choice(mendingPages, {
          description:
            'The page of the dashboard on which the caller can mend it; null where another role does, or whoever runs the host',
        }),
      ),
    }),
    'Something that the company lacks before it can sell; it is gone once it is mended',
  );
  const readHouse = rememberHouse(house);
  return routes('/staff/attention', group, (route) => {
    route.get(
      '',
      {
        auth: 'staff',
        area: 'any',
        operation: 'listConcerns',
        summary: 'List what needs a person',
        description:
          'Of each kind the newest hundred; something leaves the list when it is put right. What lacks before anything can be ' +
          'sold. And how the product itself does.',
        data: named(
          'ConcernList',
          Type.Object({
            concerns: Type.Array(ConcernShape),
            lacks: Type.Array(LackShape, { description: 'In the order in which they are mended' }),
            house: HouseShape,
          }),
        ),
      },
      async (ctx, { principal }) => {
        const operations = new Set(operationsOf(principal));
        return {
          ...(await listConcerns(ctx, concerns)),
          lacks: await readLacks(ctx, lacks, operations),
          house: await readHouse(ctx, operations),
        };
      },
    );
  });
}

/** What is lacking, each with the page where whoever asks may mend it. */
async function readLacks(ctx: Context, sources: readonly LackSource[], operations: ReadonlySet<string>) {
  const found = await Promise.all(sources.map(({ find }) => find(ctx)));
  return found.flat().map(({ code, message, mendedAt }) => ({
    ...{ code, message },
    page: mendedAt !== null && operations.has(mendedAt.operation) ? mendedAt.page : null,
  }));
}
