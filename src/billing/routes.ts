import { IdParams, routes } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { cancelInvoice } from './invoices/cancel.ts';
import { listInvoices } from './invoices/list.ts';
import { readOwnInvoice } from './invoices/read.ts';
import { payInvoice } from './payments/pay.ts';
import * as S from './schema.ts';

const group = { tag: 'Billing', about: 'Invoices and how they are paid.', examples };

export const billingRoutes = routes('/dashboard/invoices', group, (route) => {
  route.get(
    '',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'listInvoices',
      summary: 'List invoices',
      description:
        'The invoices of the organization, newest first, with its account credit. Your preference `show_cancelled_items` says ' +
        'whether cancelled ones are among them, unless you ask for a status.',
      query: S.InvoiceListQuery,
      data: S.InvoiceList,
    },
    (ctx, req) => listInvoices(ctx, req.query, req.principal),
  );
  route.get(
    '/:id',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'getInvoice',
      summary: 'Get invoice',
      description:
        'One invoice with its lines and payments, and the ways in which it may be paid: each with what speaks against it.',
      params: IdParams,
      data: S.InvoiceData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readOwnInvoice(ctx, req.params.id),
  );
  route.post(
    '/:id/pay',
    {
      auth: 'organization',
      permission: 'billing.pay',
      personal: true,
      whileBlocked: true,
      operation: 'payInvoice',
      summary: 'Pay invoice',
      description:
        'Takes what is due from the account credit, or by the payment provider: answers with the page to send the customer ' +
        'to, or has a saved method charged. An invoice is paid, and what was ordered delivered, once the money is there.',
      params: IdParams,
      body: S.Pay,
      data: S.PayData,
      errors: [
        'not_found',
        'invoice_not_payable',
        'insufficient_credit',
        'payment_provider_missing',
        'payment_method_unknown',
        'payment_too_small',
      ],
      limit: 'checkout',
    },
    (ctx, req) => payInvoice(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/cancel',
    {
      auth: 'organization',
      permission: 'billing.pay',
      operation: 'cancelInvoice',
      summary: 'Cancel invoice',
      description:
        'Gives up an order or upgrade that is not paid; what was reserved for it is free again, and what was paid ' +
        'towards it becomes account credit. Not while a payment, such as a debit, is on its way.',
      params: IdParams,
      data: S.InvoiceData,
      errors: ['not_found', 'conflict', 'amount_too_large'],
    },
    (ctx, req) => cancelInvoice(ctx, req.params.id),
  );
});
