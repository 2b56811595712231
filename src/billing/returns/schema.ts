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
import { paymentMethods } from '../invoices/kind.ts';
import { paymentStates } from '../payments/paymentList.ts';

const refundStates = ['pending', 'done', 'failed'] as const;
const disputeStates = ['asked', 'open', 'won', 'lost'] as const;

const Currency = Type.String({ examples: ['EUR'] });

const Paid = named(
  'StaffPayment',
  Type.Object({
    id: Id,
    organization: OrganizationName,
    invoice_id: Id,
    method: Choice(paymentMethods, {
      description:
        'By what it was paid: account credit, a bank transfer, the payment provider; `none`: nothing was to be paid',
    }),
    state: Choice(paymentStates, {
      description:
        '`disputed`: its bank has taken the money until it is decided; `returned`: all of it went back to where it came from',
    }),
    amount: meaning('What it brought for the invoice', MoneyText),
    returned: meaning('What of it went back to where it came from', MoneyText),
    currency: Currency,
    reference: Nullable(
      Type.String({ description: "What the bank statement says, or the payment provider's name for it" }),
    ),
    transfer_id: Nullable(meaning('The bank transfer that it is of', Id)),
    received_on: Nullable(meaning('The day on which a transfer arrived', Day)),
    created_at: Timestamp,
  }),
  'Money that paid for an invoice, or a part of it',
);

const Refunded = named(
  'StaffRefund',
  Type.Object({
    id: Id,
    organization: OrganizationName,
    invoice_id: Id,
    method: Choice(['credit', 'original', 'dispute', 'taken_back'], {
      description:
        'Where it went: to the account credit, to where it came from, to a bank that took it back, or off an invoice that a transfer had paid by mistake',
    }),
    state: Choice(refundStates, {
      description:
        '`pending`: the payment provider has not said that it arrived; `failed`: it is with us again, and became credit',
    }),
    amount: meaning('Negative: a bank gave it back, and the invoice is paid by it again', MoneyText),
    tax: meaning('The part of it that was tax', MoneyText),
    currency: Currency,
    reason: Type.String(),
    reference: Nullable(Type.String({ description: "The payment provider's name for it" })),
    created_at: Timestamp,
  }),
  'Money of a paid invoice that went back',
);

const Dispute = named(
  'Dispute',
  Type.Object({
    id: Id,
    organization: OrganizationName,
    invoice_id: Id,
    driver: Type.String({ description: 'The payment provider', examples: ['stripe'] }),
    reference: Type.String({ description: "The provider's name for it" }),
    state: Choice(disputeStates, {
      description:
        '`asked`: the bank only asks; `open`: it has taken the money until it is decided; `won`, `lost`: for us',
    }),
    amount: MoneyText,
    currency: Currency,
    reason: Type.String({ description: 'What the customer told the bank, in the words of the provider' }),
    fee: meaning('What the provider kept for it', MoneyText),
    fee_currency: Currency,
    unclear: meaning(
      'Came back after it was lost, and the books do not say whose it is: staff decides',
      MoneyText,
    ),
    answer_by: Nullable(meaning('Until when it is answered at the provider', Timestamp)),
    opened_at: Timestamp,
    closed_at: Nullable(Timestamp),
  }),
  'A payment of which a customer told the bank that it was none of theirs',
);

const about = {
  organization_id: Type.Optional(Id),
  invoice_id: Type.Optional(Id),
};

export const PaymentQuery = ListQuery({
  ...about,
  method: Type.Optional(Choice(paymentMethods)),
  state: Type.Optional(Choice(paymentStates)),
  from: Type.Optional({ ...Day, description: 'First day on which they were booked (UTC)' }),
  to: Type.Optional({ ...Day, description: 'Last day on which they were booked (UTC)' }),
  sort: SortBy(['created_at'], '-created_at'),
});
export const PaymentList = named('PaymentList', listOf('payments', Paid));
export const RefundQuery = ListQuery({
  ...about,
  state: Type.Optional(Choice(refundStates)),
  sort: SortBy(['created_at'], '-created_at'),
});
export const RefundList = named('RefundList', listOf('refunds', Refunded));
export const RefundData = named('StaffRefundAnswer', Type.Object({ refund: Refunded }));
export const DisputeQuery = ListQuery({
  ...about,
  state: Type.Optional(Choice(disputeStates)),
  sort: SortBy(['opened_at'], '-opened_at'),
});
export const DisputeList = named('DisputeList', listOf('disputes', Dispute));
export const DisputeSettlement = named(
  'DisputeSettlement',
  Strict({
    credit: Type.String({
      maxLength: 20,
      description: "What of `unclear` becomes the customer's credit; the company keeps the rest",
      examples: ['5.00'],
    }),
    reason: Type.String({ minLength: 1, maxLength: 200, description: 'Shown to the customer' }),
  }),
);
export const DisputeData = named('DisputeAnswer', Type.Object({ dispute: Dispute }));
