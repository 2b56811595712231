import { IdParams, routes } from '../../platform/http/index.ts';
import { ProfileData } from '../profiles/schema.ts';
import { ServerData } from '../servers/schema.ts';
import { baselineExamples } from './examples.ts';
import * as S from './schema.ts';
import { acceptDifferences, takeBaseline } from './staff.ts';

const fleet = { auth: 'staff', area: 'vps', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...fleet, params: IdParams } as const;

const group = {
  tag: 'Staff: server baselines',
  about:
    'How servers of a profile have to be when they are enrolled and come back: firmware, boot order, and who and what their BMCs let in.',
  examples: baselineExamples,
};

export const baselineRoutes = routes('/staff', group, (route) => {
  route.post(
    '/server-profiles/:id/baseline',
    {
      ...one,
      operation: 'takeServerBaseline',
      summary: 'Take baseline from a server',
      description:
        'Servers of this profile have to be from now on as this one is, which is in stock, by what was read when it was enrolled or came back last. A baseline is written by hand, and taken away, where the profile is changed.',
      body: S.TakenBaseline,
      data: ProfileData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => takeBaseline(ctx, req.params.id, req.body),
  );
  route.post(
    '/servers/:id/differences/accept',
    {
      ...one,
      operation: 'acceptServerDifferences',
      summary: 'Accept differences of a server',
      description:
        'Of one that is quarantined because it differs from the baseline of its profile: it is in stock. With `as_baseline` others have to be as it is from now on.',
      body: S.Acceptance,
      data: ServerData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => acceptDifferences(ctx, req.params.id, req.body),
  );
});
