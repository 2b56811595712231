import { routes } from '../../platform/http/index.ts';
import { changeProfile, lockProfile } from './change.ts';
import { examples } from './examples.ts';
import { readProfile } from './read.ts';
import * as S from './schema.ts';

const group = { tag: 'Billing', about: 'Invoices and how they are paid.', examples };

export const profileRoutes = routes('/dashboard/billing/profile', group, (route) => {
  route.get(
    '',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'getBillingProfile',
      summary: 'Get billing profile',
      description:
        'Who invoices are made out to: name, address, tax id, and what public buyers need on them.',
      data: S.BillingProfileData,
      etag: true,
    },
    (ctx) => readProfile(ctx),
  );
  route.patch(
    '',
    {
      auth: 'organization',
      permission: 'billing.manage',
      limit: 'billing-profile',
      operation: 'updateBillingProfile',
      summary: 'Change billing profile',
      description:
        'Changes what the body names, for invoices from now on; those that exist stay as they are. Whoever moves to ' +
        'another country sends the new tax id with it.',
      body: S.BillingProfileChange,
      data: S.BillingProfileData,
      lock: (tx) => lockProfile(tx),
    },
    (ctx, req) => changeProfile(ctx, req.body),
  );
});
