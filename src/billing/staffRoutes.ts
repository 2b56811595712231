import { IdParams, routes } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { listInvoicesForStaff, readInvoiceForStaff } from './invoices/invoiceStaff.ts';
import { giveCredit } from './ledger/giveCredit.ts';
import { refundForStaff } from './payments/refundForStaff.ts';
import { takeBackTransfer } from './payments/takeBack.ts';
import { bookTransfer, receiveTransfer } from './payments/transfer.ts';
import { listTransfers } from './payments/transferList.ts';
import * as S from './schema.ts';

const staffRoles = ['administrator', 'billing'];

/** Support answers what customers ask about their bills, and moves no money. */
const readers = [...staffRoles, 'support'];

const group = { tag: 'Staff: billing', about: 'Money that came in or goes back.', examples };

export const billingStaffRoutes = routes('/staff', group, (route) => {
  route.get(
    '/invoices',
    {
      auth: 'staff',
      staffRoles: readers,
      area: 'billing',
      operation: 'listInvoicesAsStaff',
      summary: 'List invoices as staff',
      description: 'Every invoice with whose it is, or those of one organization, newest first.',
      query: S.StaffInvoiceQuery,
      data: S.StaffInvoiceList,
    },
    (ctx, req) => listInvoicesForStaff(ctx, req.query),
  );
  route.get(
    '/invoices/:id',
    {
      auth: 'staff',
      staffRoles: readers,
      area: 'billing',
      operation: 'getInvoiceAsStaff',
      summary: 'Get invoice as staff',
      description: 'One invoice with its lines and payments, whoever owns it.',
      params: IdParams,
      data: S.StaffInvoiceData,
      errors: ['not_found'],
    },
    (ctx, req) => readInvoiceForStaff(ctx, req.params.id),
  );
  route.post(
    '/invoices/:id/payments',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'receiveBankTransfer',
      summary: 'Mark a bank transfer as received',
      description:
        'Pays the invoice with exactly what is due. When it was cancelled before the money came, the invoice stays ' +
        'cancelled and the money becomes account credit. What pays several invoices, a part of one, or more than is due ' +
        'is booked for the organization. What a bank statement brought already is refused under another reference (`is_another`).',
      params: IdParams,
      body: S.Transfer,
      data: S.TransferData,
      errors: ['not_found', 'invoice_not_payable', 'payment_mismatch', 'conflict', 'amount_too_large'],
    },
    (ctx, req) => receiveTransfer(ctx, req.params.id, req.body),
  );
  route.post(
    '/organizations/:id/transfers',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'bookBankTransfer',
      summary: 'Book a bank transfer of an organization',
      description:
        'Splits what was received over invoices, one of which may be paid in part: as the request says, or over all ' +
        'that is due, the oldest first. What is more than due, and what is named for an invoice that was cancelled, ' +
        'becomes account credit, and the customer is told. A reference is booked once; when it was booked before, the ' +
        'answer says as what. What a bank statement brought already is refused under another reference (`is_another`).',
      params: IdParams,
      body: S.NewTransfer,
      data: S.NewTransferData,
      errors: [
        'not_found',
        'currency_not_sold',
        'invalid_amount',
        'payment_mismatch',
        'invoice_not_payable',
        'conflict',
        'amount_too_large',
      ],
    },
    (ctx, req) => bookTransfer(ctx, req.params.id, req.body),
  );
  route.get(
    '/transfers',
    {
      auth: 'staff',
      staffRoles: readers,
      area: 'billing',
      operation: 'listBankTransfers',
      summary: 'List bank transfers',
      description: 'Every bank transfer that was booked, or those of one organization, newest first.',
      query: S.TransferQuery,
      data: S.TransferList,
    },
    (ctx, req) => listTransfers(ctx, req.query),
  );
  route.post(
    '/transfers/:id/take-back',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'takeBackBankTransfer',
      summary: 'Take back a bank transfer',
      description:
        'For one that was booked by mistake. What it paid in full counts as given back, and what was ordered with it and ' +
        'is not delivered yet is cancelled; what was paid in part is due again; what became credit is taken from the ' +
        'credit. Its reference can be booked again.',
      params: IdParams,
      body: S.TakeBack,
      data: S.StaffTransferData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => takeBackTransfer(ctx, req.params.id, req.body.reason),
  );
  route.post(
    '/invoices/:id/refund',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'refundInvoice',
      summary: 'Refund an invoice',
      description:
        'Gives the money back, as account credit or to where it came from, in whole or in part. What was ordered and is not delivered yet is ' +
        'cancelled once all of it is given back, also while it is being made; what runs keeps running. Of an invoice ' +
        'that is not paid in full, what was paid towards it goes back, and the invoice stays open. `stays` says what goes on all ' +
        'the same once all was given back, `returned` what went which way. With `dry_run` nothing happens, and the answer is the ' +
        'one that the refund would have.',
      params: IdParams,
      body: S.Refund,
      data: S.Refunded,
      errors: ['not_found', 'conflict', 'invalid_amount', 'amount_too_large', 'insufficient_credit'],
    },
    (ctx, req) => refundForStaff(ctx, req.params.id, req.body),
  );
  route.post(
    '/organizations/:id/credit',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'grantAccountCredit',
      summary: 'Grant account credit',
      description: 'Adds credit that the organization can pay invoices with. One that is closed gets none.',
      params: IdParams,
      body: S.CreditGrant,
      data: S.CreditGranted,
      errors: ['not_found', 'currency_not_sold', 'invalid_amount', 'amount_too_large', 'conflict'],
    },
    (ctx, req) => giveCredit(ctx, req.params.id, req.body),
  );
});
