import {
  enqueue,
  formatMoney,
  keptByLaw,
  type PersonalRoom,
  personalTable,
  statement,
  type TxContext,
} from '../platform/index.ts';
import { giveUpCredit } from './ledger/givenUp.ts';
import { listCredit } from './ledger/ledger.ts';
import { noteRemoved } from './methods/keep.ts';
import { lockMethods } from './methods/method.ts';
import { forgetCustomer, forgetMethod } from './methods/methods.ts';

const own = { organization: 'organization_id', closing: keptByLaw } as const;
const ofStaff = { ...own, others: ['user_id'], without: ['user_id'] } as const;

const open = statement<{ id: number; what: string }, { organizationIds: number[] }>(
  'billing.openOf',
  `select id, 'is not paid: pay it or cancel it' as what from invoices
   where organization_id = any(:organizationIds::bigint[]) and status in ('draft', 'unpaid')
   union all
   select invoice_id, 'has a payment under way: wait for it' from charges
   where organization_id = any(:organizationIds::bigint[]) and state = 'pending'
   union all
   select invoice_id, 'has a refund under way: wait for it' from refunds
   where organization_id = any(:organizationIds::bigint[]) and state = 'pending'
   union all
   select id, 'is credit that is being paid out: wait for it' from credit_returns
   where organization_id = any(:organizationIds::bigint[]) and state = 'open'
   order by id limit 100`,
);
const clearProfiles = statement<never, { organizationIds: number[]; now: Date }>(
  'billing.clearProfiles',
  `update billing_profiles set name = null, address_line1 = null, address_line2 = null, postal_code = null, city = null,
     region = null, tax_id = null, email = null, routing_id = null, order_number = null, updated_at = :now
   where organization_id = any(:organizationIds::bigint[])`,
);

const customersOf = statement<{ reference: string }, { organizationIds: number[]; driver: string }>(
  'billing.customersToForget',
  `select reference from provider_customers where organization_id = any(:organizationIds::bigint[]) and driver = :driver`,
);

async function creditLeft(tx: TxContext, organizationIds: readonly number[]) {
  const all = await Promise.all(
    organizationIds.map((id) => listCredit(tx, id).then((list) => list.map((each) => ({ id, ...each })))),
  );
  return all
    .flat()
    .filter(({ balanceMinor }) => balanceMinor > 0)
    .map(({ id, balanceMinor, currency }) => ({
      field: `organizations[${id}].credit`,
      message: `${formatMoney(balanceMinor, currency)} ${currency} of credit are left: ask support to pay them out, or say give_up_credit`,
    }));
}

/** Money: what the books stand on stays. */
export const billingPersonal: PersonalRoom = {
  tables: [
    personalTable('billing_profiles', { ...own, closing: 'cleared' }),
    personalTable('invoices', { ...own, others: ['user_id'] }),
    personalTable('invoice_items', own),
    personalTable('forgotten_books', { ...own, hidden: 'of whom the books say nothing any more' }),
    personalTable('payments', own),
    personalTable('refunds', ofStaff),
    personalTable('credit_returns', {
      ...ofStaff,
      others: ['user_id', 'decided_by'],
      without: ['user_id', 'decided_by'],
    }),
    personalTable('transfers', {
      ...ofStaff,
      others: ['user_id', 'taken_back_by'],
      without: ['user_id', 'taken_back_by'],
    }),
    personalTable('charges', { ...own, without: ['page_url', 'page_reference'] }),
    personalTable('charge_returns', own),
    personalTable('disputes', own),
    personalTable('payment_methods', { ...own, without: ['reference'] }),
    personalTable('provider_customers', own),
    personalTable('unknown_payments', {
      ...own,
      others: ['decided_by'],
      hidden: 'payments that the provider has yet to find out about',
    }),
    personalTable('bank_entries', {
      ...own,
      others: ['user_id'],
      without: ['user_id', 'fingerprint', 'proposals'],
    }),
    personalTable('bank_statements', { others: ['user_id'], hidden: "the provider's", closing: keptByLaw }),
    personalTable('tax_standings', own),
    personalTable('tax_evidence', own),
    personalTable('ledger_accounts', own),
    personalTable('ledger_transactions', ofStaff),
    personalTable('ledger_entries', own),
    personalTable('ledger_differences', { ...own, hidden: "the provider's look at its own books" }),
    personalTable('deferrals', own),
    personalTable('earnings', own),
  ],
  obstacles: async (tx, { organizationIds, givesUpCredit }) => {
    const invoices = await tx.db.many(open, { organizationIds: [...organizationIds] });
    const credit = givesUpCredit ? [] : await creditLeft(tx, organizationIds);
    return [...invoices.map(({ id, what }) => ({ field: `invoices[${id}]`, message: what })), ...credit];
  },
  forget: async (tx, { organizationIds, givesUpCredit }) => {
    await tx.db.run(clearProfiles, { organizationIds: [...organizationIds], now: tx.clock.now() });
    for (const organizationId of organizationIds) {
      if (givesUpCredit) await giveUpCredit(tx, organizationId);
      const methods = await tx.db.many(lockMethods, { organizationId });
      for (const method of methods.filter((each) => each.removed_at === null)) {
        await noteRemoved(tx, method);
        await enqueue(tx, forgetMethod, { reference: method.reference });
      }
    }
    // Those of another provider than the one that is configured nobody could forget here.
    const who = { organizationIds: [...organizationIds], driver: tx.config.payments };
    for (const { reference } of await tx.db.many(customersOf, who))
      await enqueue(tx, forgetCustomer, { reference });
  },
};
