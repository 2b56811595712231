import { Type } from 'typebox';
import { OrganizationName } from '../../organizations/index.ts';
import {
  Choice,
  Day,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  meaning,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';

const Payout = named(
  'Payout',
  Type.Object({
    id: Id,
    driver: Type.String({ description: 'The payment provider', examples: ['stripe'] }),
    reference: Type.String({ description: "The provider's name for it" }),
    state: Choice(['pending', 'paid', 'failed', 'over'], {
      description: '`paid`: it is at the bank; `failed`: the bank did not take it; `over`: it was called off',
    }),
    amount: meaning('What is sent to the bank', MoneyText),
    currency: Type.String({ examples: ['EUR'] }),
    fee: meaning('What the provider kept for sending it', MoneyText),
    fee_currency: Type.String({ examples: ['EUR'] }),
    arrives_on: meaning('When the bank has it', Day),
    seen_at: meaning('When we heard of it', Timestamp),
    failure: Nullable(Type.String({ description: 'Why it failed' })),
    bank_entry: Nullable(
      named(
        'PayoutBankEntry',
        Type.Object({ statement_id: Id, id: Id }),
        'The entry of a bank statement that it is',
      ),
    ),
  }),
  'Money that a payment provider sent to our bank',
);

export const PayoutList = named('PayoutList', listOf('payouts', Payout));
export const PayoutQuery = ListQuery({ sort: SortBy(['seen_at'], '-seen_at') });

const UnknownPayment = named(
  'UnknownPayment',
  Type.Object({
    id: Id,
    driver: Type.String({ description: 'The payment provider', examples: ['stripe'] }),
    reference: Type.String({ description: "The provider's name for it" }),
    amount: MoneyText,
    currency: Type.String({ examples: ['EUR'] }),
    organization: Nullable(OrganizationName),
    told_invoice_id: Nullable(meaning('The invoice that it was made for, which is gone', Id)),
    state: Choice(['open', 'booked', 'dismissed']),
    invoice_id: Nullable(meaning('The invoice that staff booked it for', Id)),
    reason: Nullable(Type.String({ description: 'Why it was dismissed' })),
    seen_at: Timestamp,
  }),
  'A payment that we asked for, says the provider, and that the database does not know',
);

export const UnknownPaymentList = named('UnknownPaymentList', listOf('payments', UnknownPayment));
export const UnknownPaymentQuery = ListQuery({ sort: SortBy(['seen_at'], '-seen_at') });
export const UnknownPaymentData = named('UnknownPaymentAnswer', Type.Object({ payment: UnknownPayment }));
export const UnknownPaymentBooking = named(
  'UnknownPaymentBooking',
  Strict({ invoice_id: meaning('It pays what is due of this invoice; what is more becomes credit', Id) }),
);
export const UnknownPaymentDismissal = named(
  'UnknownPaymentDismissal',
  Strict({
    reason: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Why it is none of ours, or where it went',
    }),
  }),
);

export const RestoreReleased = named('RestoreReleased', Type.Object({ released: Type.Boolean() }));
