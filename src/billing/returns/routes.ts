import { IdParams, routes } from '../../platform/http/index.ts';
import { settleDispute } from '../charges/settleDispute.ts';
import { listPayments } from '../payments/paymentList.ts';
import { examples } from './examples.ts';
import { listDisputes, listRefunds, readDispute, readRefund } from './list.ts';
import * as S from './schema.ts';

const group = { tag: 'Staff: billing', about: 'Money that came in or goes back.', examples };

const common = {
  auth: 'staff',
  staffRoles: ['administrator', 'billing', 'support'],
  area: 'billing',
} as const;

/** What came, what went back, and what banks ask about. */
export const returnStaffRoutes = routes('/staff', group, (route) => {
  route.get(
    '/payments',
    {
      ...common,
      operation: 'listPayments',
      summary: 'List payments',
      description:
        'Everything that paid for an invoice, or a part of it, newest first: account credit, bank transfers, cards and what else ' +
        'the payment provider takes.',
      query: S.PaymentQuery,
      data: S.PaymentList,
    },
    (ctx, req) => listPayments(ctx, req.query),
  );
  route.get(
    '/refunds',
    {
      ...common,
      operation: 'listRefunds',
      summary: 'List refunds',
      description:
        'Money of paid invoices that went back, newest first: by staff, with a cancellation, or because a bank took it.',
      query: S.RefundQuery,
      data: S.RefundList,
    },
    (ctx, req) => listRefunds(ctx, req.query),
  );
  route.get(
    '/refunds/:id',
    {
      ...common,
      operation: 'getRefund',
      summary: 'Get refund',
      description: 'One refund, and whether it arrived.',
      params: IdParams,
      data: S.RefundData,
      errors: ['not_found'],
    },
    (ctx, req) => readRefund(ctx, req.params.id),
  );
  route.get(
    '/disputes',
    {
      ...common,
      operation: 'listDisputes',
      summary: 'List disputes',
      description:
        'Payments of which customers told their banks that they were none of theirs, newest first. They are answered at the payment provider.',
      query: S.DisputeQuery,
      data: S.DisputeList,
    },
    (ctx, req) => listDisputes(ctx, req.query),
  );
  route.get(
    '/disputes/:id',
    {
      ...common,
      operation: 'getDispute',
      summary: 'Get dispute',
      description: 'One dispute, and how it stands.',
      params: IdParams,
      data: S.DisputeData,
      errors: ['not_found'],
    },
    (ctx, req) => readDispute(ctx, req.params.id),
  );
  route.post(
    '/disputes/:id/settle',
    {
      ...common,
      staffRoles: ['administrator', 'billing'],
      operation: 'settleDispute',
      summary: 'Settle dispute',
      description:
        'For one that was lost and won after all, of which the books do not say what its customer has had (`unclear`): ' +
        "so much becomes the customer's credit, and the company keeps the rest.",
      params: IdParams,
      body: S.DisputeSettlement,
      data: S.DisputeData,
      errors: ['not_found', 'conflict', 'invalid_amount'],
    },
    (ctx, req) => settleDispute(ctx, req.params.id, req.body),
  );
});
