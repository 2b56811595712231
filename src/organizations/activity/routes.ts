import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from '../examples.ts';
import { listActivity } from './list.ts';
import * as S from './schema.ts';

const group = {
  tag: 'Activity',
  about: 'What was done to what an organization owns, and by whom.',
  examples,
};

export const activityRoutes = routes('/dashboard/organizations', group, (route) => {
  route.get(
    '/:id/activity',
    {
      auth: 'organization',
      permission: 'activity.read',
      operation: 'getOrganizationActivity',
      summary: 'Get organization activity',
      description:
        'Everything that anyone did in the organization, staff included, newest first: who, from where, with which key. ' +
        '`total` counts up to 1,000.',
      params: IdParams,
      query: S.ActivityQuery,
      data: S.ActivityList,
      errors: ['not_found'],
    },
    (ctx, req) => listActivity(ctx, req.params.id, req.query),
  );
});
