import { IdParams, routes } from '../platform/http/index.ts';
import { listInvoices } from './list.ts';
import { payWithCredit } from './pay.ts';
import { readOwnInvoice } from './read.ts';
import * as S from './schema.ts';

export const billingRoutes = routes('/dashboard/invoices', { tag: 'Billing' }, (route) => {
  route.get(
    '',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'listInvoices',
      summary: 'List invoices',
      query: S.InvoiceListQuery,
      data: S.InvoiceList,
      errors: ['invalid_cursor', 'page_too_deep'],
    },
    (ctx, req) => listInvoices(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'getInvoice',
      summary: 'Get invoice',
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
      operation: 'payInvoice',
      summary: 'Pay invoice',
      description: 'Takes the total from the account credit; what was ordered is delivered at once.',
      params: IdParams,
      body: S.Pay,
      data: S.InvoiceData,
      errors: ['not_found', 'invoice_not_payable', 'insufficient_credit'],
      limit: 'checkout',
    },
    (ctx, req) => payWithCredit(ctx, req.params.id),
  );
});
