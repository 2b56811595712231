import { IdParams, routes } from '../../platform/http/index.ts';
import { refuseOrder, releaseOrder } from './decide.ts';
import { examples } from './examples.ts';
import { listOrders, readOrder } from './orders.ts';
import * as S from './schema.ts';

const group = {
  tag: 'Staff: orders',
  about: 'What was ordered, and paid orders that wait until one of your people has looked at them.',
  examples,
};

const reader = {
  auth: 'staff',
  area: 'billing',
  staffRoles: ['administrator', 'billing', 'support'],
} as const;
const decider = { ...reader, staffRoles: ['administrator', 'billing'], params: IdParams } as const;

export const orderStaffRoutes = routes('/staff/orders', group, (route) => {
  route.get(
    '',
    {
      ...reader,
      operation: 'listOrders',
      summary: 'List orders',
      description: 'Every order, newest first. `review=held` has those that wait for staff.',
      query: S.OrderQuery,
      data: S.OrderList,
    },
    (ctx, req) => listOrders(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      ...reader,
      operation: 'getOrder',
      summary: 'Get order',
      description: 'One order, by the id of its invoice.',
      params: IdParams,
      data: S.OrderData,
      errors: ['not_found'],
    },
    (ctx, req) => readOrder(ctx, req.params.id),
  );
  route.post(
    '/:id/release',
    {
      ...decider,
      operation: 'releaseOrder',
      summary: 'Release an order that is held',
      description: 'Has it delivered at once.',
      body: S.Release,
      data: S.OrderData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => releaseOrder(ctx, req.params.id, req.body.note ?? null),
  );
  route.post(
    '/:id/refuse',
    {
      ...decider,
      operation: 'refuseOrder',
      summary: 'Refuse an order that is held',
      description:
        'Gives the money back as account credit, tells the customer the reason, and cancels what was ordered.',
      body: S.Refusal,
      data: S.OrderData,
      errors: ['not_found', 'conflict', 'amount_too_large'],
    },
    (ctx, req) => refuseOrder(ctx, req.params.id, req.body.reason),
  );
});
