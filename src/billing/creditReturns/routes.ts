import { IdParams, routes } from '../../platform/http/index.ts';
import { cancelCreditReturn, finishCreditReturn } from './decide.ts';
import { examples } from './examples.ts';
import { listCreditReturns, readCreditReturn } from './list.ts';
import { returnCredit } from './returnCredit.ts';
import * as S from './schema.ts';

const group = { tag: 'Staff: billing', about: 'Money that came in or goes back.', examples };

const common = { auth: 'staff', area: 'billing' } as const;
const decider = { ...common, staffRoles: ['administrator', 'billing'] } as const;
const reader = { ...common, staffRoles: ['administrator', 'billing', 'support'] } as const;

/** Credit that goes back to its organization's bank account. */
export const creditReturnStaffRoutes = routes('/staff', group, (route) => {
  route.post(
    '/organizations/:id/credit-returns',
    {
      ...decider,
      operation: 'returnCredit',
      summary: 'Pay out credit',
      description:
        'Takes credit from an organization, which you then send to its bank account: what it brought itself and did not use ' +
        'up. What was given to it is not paid out. With `dry_run` nothing happens, and the answer says how much it could be.',
      params: IdParams,
      body: S.NewCreditReturn,
      data: S.ReturnedCredit,
      errors: ['not_found', 'invalid_amount', 'conflict'],
    },
    (ctx, req) => returnCredit(ctx, req.params.id, req.body),
  );
  route.get(
    '/credit-returns',
    {
      ...reader,
      operation: 'listCreditReturns',
      summary: 'List paid-out credit',
      description: 'Credit that is paid out by bank transfer, or was, newest first.',
      query: S.CreditReturnQuery,
      data: S.CreditReturnList,
    },
    (ctx, req) => listCreditReturns(ctx, req.query),
  );
  route.get(
    '/credit-returns/:id',
    {
      ...reader,
      operation: 'getCreditReturn',
      summary: 'Get paid-out credit',
      description: 'One of them, and whether the transfer has left the bank.',
      params: IdParams,
      data: S.CreditReturnData,
      errors: ['not_found'],
    },
    (ctx, req) => readCreditReturn(ctx, req.params.id),
  );
  route.post(
    '/credit-returns/:id/done',
    {
      ...decider,
      operation: 'finishCreditReturn',
      summary: 'Mark paid-out credit as done',
      description: 'The transfer has left the bank. Its customer is told.',
      params: IdParams,
      body: S.Finished,
      data: S.CreditReturnData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => finishCreditReturn(ctx, req.params.id, req.body.paid_on),
  );
  route.post(
    '/credit-returns/:id/cancel',
    {
      ...decider,
      operation: 'cancelCreditReturn',
      summary: 'Cancel paid-out credit',
      description: 'For one whose transfer was not made, or came back: the credit is there again.',
      params: IdParams,
      body: S.Cancelled,
      data: S.CreditReturnData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => cancelCreditReturn(ctx, req.params.id, req.body.reason),
  );
});
