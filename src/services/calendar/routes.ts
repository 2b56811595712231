import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { previewCalendar } from './preview.ts';
import {
  promiseForOrganization,
  promiseForService,
  readOwnPromise,
  readPromiseForOrganization,
  readPromiseForService,
} from './promises.ts';
import * as S from './schema.ts';

const money = { auth: 'staff', area: 'billing', staffRoles: ['administrator', 'billing'] } as const;

const preview = {
  ...money,
  query: S.PreviewQuery,
  data: S.Preview,
} as const;

const promised = { ...money, params: IdParams, data: S.PromiseData, errors: ['not_found'] } as const;

const promise = { ...promised, body: S.NewPromise } as const;

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
  route.get(
    '/services/:id/promise',
    {
      ...promised,
      staffRoles: ['administrator', 'billing', 'support'],
      operation: 'getPromiseOfService',
      summary: 'Get the promise to pay for a service',
      description:
        'The promise that holds for it today: its own, or that for all services of its organization, whichever is longer.',
    },
    (ctx, req) => readPromiseForService(ctx, req.params.id),
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
  route.get(
    '/organizations/:id/promise',
    {
      ...promised,
      staffRoles: ['administrator', 'billing', 'support'],
      operation: 'getPromiseOfOrganization',
      summary: 'Get the promise to pay for an organization',
      description: 'The promise that holds today for all of its services.',
    },
    (ctx, req) => readPromiseForOrganization(ctx, req.params.id),
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

export const promiseRoutes = routes('/dashboard/services', { tag: 'Services', examples }, (route) => {
  route.get(
    '/:id/promise',
    {
      auth: 'organization',
      permission: 'service.read',
      operation: 'getPaymentPromise',
      summary: 'Get the promise to pay for a service',
      description:
        'Until when you promised to pay, as our staff noted it: until then the service is not suspended or terminated for an ' +
        'invoice that is overdue.',
      params: IdParams,
      data: S.OwnPromiseData,
      errors: ['not_found'],
    },
    (ctx, req) => readOwnPromise(ctx, req.params.id),
  );
});
