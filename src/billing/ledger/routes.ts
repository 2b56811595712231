import { routes } from '../../platform/http/index.ts';
import { listCreditTransactions } from './creditTransactions.ts';
import { examples } from './examples.ts';
import * as S from './schema.ts';

const group = { tag: 'Billing', about: 'Invoices and how they are paid.', examples };

export const creditRoutes = routes('/dashboard/credit', group, (route) => {
  route.get(
    '/transactions',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'listCreditTransactions',
      summary: 'List credit transactions',
      description:
        'Everything that changed the account credit in one currency, newest first, each with the balance after it. ' +
        'Without `currency` it is the one that `credit_balance` of the invoices shows; `credits` names them all.',
      query: S.CreditTransactionQuery,
      data: S.CreditTransactionList,
    },
    (ctx, req) => listCreditTransactions(ctx, req.query),
  );
});
