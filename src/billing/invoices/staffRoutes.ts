import { IdParams, type RouteGroup, routes } from '../../platform/http/index.ts';
import { examples } from '../examples.ts';
import { correctInvoice } from '../payments/correct.ts';
import { StaffInvoiceData } from '../schema.ts';
import { issueByHand, type OwnedServices } from './byHand.ts';
import { cancelInvoiceAsStaff } from './cancel.ts';
import * as S from './schema.ts';

const group = { tag: 'Staff: billing', about: 'Money that came in or goes back.', examples };

const decider = { auth: 'staff', staffRoles: ['administrator', 'billing'], area: 'billing' } as const;

/** What staff does with invoices themselves. Whose a service is, the room of services says. */
export function invoiceStaffRoutes(owned: OwnedServices): RouteGroup {
  return routes('/staff/invoices', group, (route) => {
    route.post(
      '',
      {
        ...decider,
        operation: 'issueInvoice',
        summary: 'Issue an invoice by hand',
        description:
          'For what no order, renewal or upgrade asks for. It is taxed like every other invoice of the organization, which ' +
          'is told by mail, and stays open until it is paid or staff cancels it. With `dry_run` nothing is issued, and the ' +
          'answer is what the invoice would be.',
        body: S.NewInvoice,
        data: S.IssuedInvoice,
        errors: ['not_found', 'currency_not_sold', 'amount_too_large', 'conflict'],
      },
      (ctx, req) => issueByHand(ctx, req.body, owned),
    );
    route.post(
      '/:id/cancel',
      {
        ...decider,
        operation: 'cancelInvoiceAsStaff',
        summary: 'Cancel an invoice as staff',
        description:
          'Gives up any invoice that is not paid: what was reserved for it is free again, an upgrade or renewal it was for ' +
          'is dropped, and what was paid towards it becomes account credit. One that has a number gets a credit note. A ' +
          'service that goes on gets another renewal invoice in its time, for its period alone: traffic that the cancelled one ' +
          'asked for is waived.',
        params: IdParams,
        body: S.Cancellation,
        data: StaffInvoiceData,
        errors: ['not_found', 'conflict', 'amount_too_large'],
      },
      (ctx, req) => cancelInvoiceAsStaff(ctx, req.params.id, req.body.reason),
    );
    route.post(
      '/:id/correct',
      {
        ...decider,
        operation: 'correctInvoice',
        summary: 'Correct an invoice by a credit note',
        description:
          'Takes back lines of an invoice that has a number, or all that is left of it, never more than the invoice less ' +
          'earlier credit notes. What had been paid of that becomes account credit, or goes back to where it came from. One ' +
          'that is not paid is taken back whole, and so cancelled. What was ordered and is not delivered yet is cancelled ' +
          'once all is taken back; what runs keeps running.',
        params: IdParams,
        body: S.Correction,
        data: S.Corrected,
        errors: ['not_found', 'conflict', 'invalid_amount', 'amount_too_large', 'insufficient_credit'],
      },
      (ctx, req) => correctInvoice(ctx, req.params.id, req.body),
    );
  });
}
