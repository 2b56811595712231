import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { previewCalendar } from './preview.ts';
import { promiseForOrganization, promiseForService } from './promises.ts';
import * as S from './schema.ts';

const money = { auth: 'staff', area: 'billing', staffRoles: ['administrator', 'billing'] } as const;

const preview = {
  ...money,
  query: S.PreviewQuery,
  data: S.Preview,
} as const;

const promise = {
  ...money,
  params: IdParams,
  body: S.NewPromise,
  data: S.PromiseData,
  errors: ['not_found'],
} as const;

export const calendarStaffRoutes = routes('/staff', { tag: 'Staff: settings', examples }, (route) => {
  route.get(
    '/settings/preview',
    {
      ...preview,
      operation: 'previewCalendar',
      summary: 'Preview the calendar',
      description:
        'What happens to whom in the next thirty days if nobody pays, found by the rule that does it: for up to 500 services ' +
        'at once, those that are due first at first.',
    },
    (ctx, req) => previewCalendar(ctx, {}, req.query.cursor),
  );
  route.post(
    '/settings/preview',
    {
      ...preview,
      operation: 'previewChangedCalendar',
      summary: 'Preview a changed calendar',
      description: 'The same as if the settings were as the body says. Nothing is saved.',
      body: S.PreviewedChange,
    },
    (ctx, req) => previewCalendar(ctx, req.body.calendar, req.query.cursor),
  );
  route.post(
    '/services/:id/promise',
    {
      ...promise,
      operation: 'promisePaymentOfService',
      summary: 'Note a promise to pay for a service',
      description:
        'Until that day the service is not reminded, suspended or terminated for an invoice that is overdue; then the calendar ' +
        'goes on, with the days in between that it always has. What is suspended stays so.',
    },
    (ctx, req) => promiseForService(ctx, req.params.id, req.body),
  );
  route.post(
    '/organizations/:id/promise',
    {
      ...promise,
      operation: 'promisePaymentOfOrganization',
      summary: 'Note a promise to pay for an organization',
      description: 'The same for all services of an organization.',
    },
    (ctx, req) => promiseForOrganization(ctx, req.params.id, req.body),
  );
});
