import { IdParams, routes } from '../../platform/http/index.ts';
import { releaseHeld } from '../charges/restored.ts';
import { bookUnknownPayment, dismissUnknownPayment, listUnknownPayments } from '../charges/unknown.ts';
import { examples } from './examples.ts';
import { listPayouts } from './list.ts';
import * as S from './schema.ts';

const group = { tag: 'Staff: billing', about: 'Money that came in or goes back.', examples };

const common = { auth: 'staff', staffRoles: ['administrator', 'billing'], area: 'billing' } as const;

/** What a payment provider sent to the bank, and what it has that we do not know. */
export const providerStaffRoutes = routes('/staff', group, (route) => {
  route.get(
    '/payouts',
    {
      ...common,
      operation: 'listPayouts',
      summary: 'List payouts of the payment provider',
      description:
        'What the payment provider sent to our bank. Each is booked once, by what the provider tells; the entry of the bank ' +
        'statement that is the same money is found and does not count again.',
      query: S.PayoutQuery,
      data: S.PayoutList,
    },
    (ctx, req) => listPayouts(ctx, req.query),
  );
  route.get(
    '/unknown-payments',
    {
      ...common,
      operation: 'listUnknownPayments',
      summary: 'List payments that the database does not know',
      description:
        'Payments that we asked for, says the payment provider, and that stand nowhere, as after the restore of an older ' +
        'backup. One whose invoice is still there is booked by itself; these wait for you.',
      query: S.UnknownPaymentQuery,
      data: S.UnknownPaymentList,
    },
    (ctx, req) => listUnknownPayments(ctx, req.query),
  );
  route.post(
    '/unknown-payments/:id/book',
    {
      ...common,
      operation: 'bookUnknownPayment',
      summary: 'Book a payment that the database does not know',
      description:
        'Says which invoice it is for. It is booked a moment later, when the payment provider was asked how it stands: what ' +
        'is more than due, and all of it for an invoice that is paid or cancelled, becomes account credit.',
      params: IdParams,
      body: S.UnknownPaymentBooking,
      data: S.UnknownPaymentData,
      errors: ['not_found', 'conflict', 'payment_mismatch'],
    },
    (ctx, req) => bookUnknownPayment(ctx, req.params.id, req.body),
  );
  route.post(
    '/unknown-payments/:id/dismiss',
    {
      ...common,
      operation: 'dismissUnknownPayment',
      summary: 'Dismiss a payment that the database does not know',
      description:
        'It is none of ours, as when another installation uses the same account, or you gave it back at the provider.',
      params: IdParams,
      body: S.UnknownPaymentDismissal,
      data: S.UnknownPaymentData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => dismissUnknownPayment(ctx, req.params.id, req.body),
  );
  route.post(
    '/restores/:id/release',
    {
      ...common,
      operation: 'releaseRestore',
      summary: 'Release what a restore holds',
      description:
        'After the database was restored, nothing is suspended, ended or charged by itself, no late fee is asked for and no ' +
        'order expires, since what was paid or changed after the backup is unknown. This lets it go on: first book or dismiss ' +
        'unknown payments, and send the bank statements since the backup again. `conflict` until the payment provider was ' +
        'compared. Its id stands in the list of what needs a person, as `restore.held`.',
      params: IdParams,
      data: S.RestoreReleased,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => releaseHeld(ctx, req.params.id),
  );
});
