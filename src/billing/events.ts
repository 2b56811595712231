import { Type } from 'typebox';
import { event } from '../events/index.ts';
import { Choice, Day, Id, MoneyText, Nullable } from '../platform/http/index.ts';
import { type InvoiceKind, invoiceKinds, type PaymentMethod } from './invoices/kind.ts';

interface InvoiceCreated {
  user_id: number | null;
  kind: InvoiceKind;
  currency: string;
  total: string;
  duedate: string;
  /** What there is of credit that pays a renewal first. */
  credit?: string;
  items: { description: string; amount: string }[];
}

interface InvoicePaid {
  user_id: number | null;
  kind: InvoiceKind;
  method: PaymentMethod;
  currency: string;
  total: string;
}

interface InvoicePartPaid {
  user_id: number | null;
  kind: InvoiceKind;
  currency: string;
  amount: string;
  due: string;
  duedate: string;
}

interface InvoiceEnded {
  user_id: number | null;
  kind: InvoiceKind;
  currency: string;
  total: string;
  /** What was paid towards it, and is credit now. */
  credited?: string;
}

interface InvoiceCancelled extends InvoiceEnded {
  /** Why, when it was not its customer who cancelled it. */
  reason?: string;
}

interface InvoiceRefunded {
  user_id: number | null;
  amount: string;
  currency: string;
  /**
   * `original`: to where it came from. `dispute`: its bank took it back. `taken_back`: what paid it was booked by mistake.
   */
  method: 'credit' | 'original' | 'dispute' | 'taken_back';
  reason: string;
  full: boolean;
}

interface InvoicePaidAgain {
  user_id: number | null;
  amount: string;
  currency: string;
  reason: string;
  /** Whether nothing of it is given back any more. */
  full: boolean;
}

interface BankStatementReceived {
  account: string;
  /** Entries in it, and how many of them an earlier statement had. */
  entries: number;
  known: number;
}

interface BankEntryDismissed {
  statement_id: number;
  amount: string;
  currency: string;
  reason: string;
}

interface UnknownPaymentBooked {
  invoice_id: number;
  amount: string;
  currency: string;
  reference: string;
}

interface UnknownPaymentDismissed {
  amount: string;
  currency: string;
  reference: string;
  reason: string;
}

interface RestoreReleased {
  made_at: string;
  restored_at: string;
}

interface TransferTakenBack {
  user_id: number | null;
  amount: string;
  currency: string;
  reference: string;
  reason: string;
}

interface InvoicePartReturned {
  user_id: number | null;
  amount: string;
  currency: string;
  reason: string;
}

interface CreditNoteIssued {
  user_id: number | null;
  /** The invoice that it corrects. */
  invoice_id: number;
  number: string;
  currency: string;
  /** Negative, unless it takes an earlier one back. */
  total: string;
  reason: string;
}

interface CreditReturnOpen {
  amount: string;
  currency: string;
  reason: string;
}

interface CreditReturnDone {
  user_id: number | null;
  amount: string;
  currency: string;
  /** The day on which the transfer left the bank. */
  paid_on: string;
}

interface DisputeSettled {
  invoice_id: number;
  currency: string;
  /** What became the customer's credit, and of how much. */
  credit: string;
  total: string;
  reason: string;
}

interface CreditGranted {
  user_id: number | null;
  amount: string;
  currency: string;
  description: string;
  invoice_id: number | null;
  /** Of the transfer that was more than was due. */
  reference?: string;
  /** How the invoice stood when money came for it. */
  invoice_was?: 'cancelled' | 'paid' | 'refunded' | 'disputed';
}

interface PaymentDeclined {
  user_id: number | null;
  charge_id: number;
  amount: string;
  currency: string;
  /** In the words of the payment provider. */
  reason: string;
  /** When the method is charged again; null when it is the customer's turn. */
  next_try_on: string | null;
  pay_url: string;
}

interface PaymentConfirmationWanted {
  user_id: number | null;
  charge_id: number;
  amount: string;
  currency: string;
  pay_url: string;
}

interface DisputeOpened {
  invoice_id: number;
  amount: string;
  currency: string;
  /** The payment provider's word: `fraudulent`. */
  reason: string;
  answer_by: string | null;
}

interface DisputeClosed {
  invoice_id: number;
  amount: string;
  currency: string;
  outcome: 'won' | 'lost';
}

interface PaymentMethodChanged {
  user_id: number | null;
  /** As its owner knows it: `visa ending in 4242`. */
  method: string;
}

interface PaymentMethodSaved extends PaymentMethodChanged {
  is_default: boolean;
}

interface PaymentMethodRemoved extends PaymentMethodChanged {
  /** Whether renewals were charged to it; absent of what was removed before this was told. */
  is_default?: boolean;
}

interface PaymentMethodChosen {
  method: string;
  is_default: boolean;
}

interface BillingProfileChanged {
  /** Names of the fields that were told anew. */
  fields: string[];
}

interface TaxRateAdded {
  country: string;
  rate: string;
  valid_from: string;
}

interface TaxRateEnded {
  country: string;
  valid_until: string;
}

interface TaxRateRemoved {
  country: string;
  valid_from: string;
}

interface TaxExemptionChanged {
  /** Null: it pays again. */
  reason: string | null;
}

interface TaxIdChecked {
  user_id: number | null;
  tax_id: string;
  state: 'valid' | 'invalid';
  by: 'register' | 'staff';
}

export const taxRateAdded = event<TaxRateAdded>('tax_rate.added', 'staff listed a rate of tax from a day on');
export const taxRateEnded = event<TaxRateEnded>('tax_rate.ended', 'staff let a rate of tax end');
export const taxRateRemoved = event<TaxRateRemoved>(
  'tax_rate.removed',
  'staff took back a rate of tax that did not count yet',
);
export const taxExemptionChanged = event<TaxExemptionChanged>(
  'tax.exemption_changed',
  'staff said whether an organization pays tax',
);
export const taxIdChecked = event<TaxIdChecked>(
  'tax_id.checked',
  'the register or staff told whether a VAT id is valid, other than before',
);
export const organizationForgotten = event(
  'organization.forgotten',
  'the books name an organization no more that was closed: the law wants it kept no longer',
);
export const billingProfileChanged = event<BillingProfileChanged>(
  'billing_profile.updated',
  'an organization said anew who its invoices are made out to',
);
export const invoiceCreated = event<InvoiceCreated>('invoice.created', 'an invoice was issued', {
  permission: 'billing.read',
  data: {
    kind: Choice(invoiceKinds),
    currency: Type.String(),
    total: MoneyText,
    duedate: Day,
    items: Type.Array(Type.Object({ description: Type.String(), amount: MoneyText })),
  },
});
export const invoicePaid = event<InvoicePaid>('invoice.paid', 'an invoice was paid', {
  permission: 'billing.read',
  data: { kind: Choice(invoiceKinds), method: Type.String(), currency: Type.String(), total: MoneyText },
});
export const invoicePartPaid = event<InvoicePartPaid>(
  'invoice.part_paid',
  'a part of an invoice was paid; what it is for waits for the rest',
  {
    permission: 'billing.read',
    data: {
      kind: Choice(invoiceKinds),
      currency: Type.String(),
      amount: MoneyText,
      due: MoneyText,
      duedate: Day,
    },
  },
);
export const invoiceExpired = event<InvoiceEnded>(
  'invoice.expired',
  'an invoice was not paid in time and is cancelled',
  {
    permission: 'billing.read',
    data: { kind: Choice(invoiceKinds), currency: Type.String(), total: MoneyText },
  },
);
export const invoiceCancelled = event<InvoiceCancelled>(
  'invoice.cancelled',
  'an invoice that was not paid was cancelled, by its customer, by staff or because what it was for has ended',
  {
    permission: 'billing.read',
    data: { kind: Choice(invoiceKinds), currency: Type.String(), total: MoneyText },
  },
);
export const invoiceRefunded = event<InvoiceRefunded>(
  'invoice.refunded',
  'money of an invoice was given back, all of it or a part',
  {
    permission: 'billing.read',
    data: {
      amount: MoneyText,
      currency: Type.String(),
      method: Choice(['credit', 'original', 'dispute', 'taken_back']),
      reason: Type.String(),
      full: Type.Boolean(),
    },
  },
);
export const invoicePaidAgain = event<InvoicePaidAgain>(
  'invoice.paid_again',
  'a bank gave back what it had taken of an invoice, which is paid by it again',
);
export const invoicePartReturned = event<InvoicePartReturned>(
  'invoice.part_returned',
  'staff gave back what was paid towards an invoice, which stays open',
);
export const creditNoteIssued = event<CreditNoteIssued>(
  'credit_note.issued',
  'a credit note was issued, which corrects an invoice',
);
export const creditGranted = event<CreditGranted>('credit.granted', 'an organization got credit', {
  permission: 'billing.read',
  data: {
    amount: MoneyText,
    currency: Type.String(),
    description: Type.String(),
    invoice_id: Nullable(Id),
  },
});
export const paymentDeclined = event<PaymentDeclined>(
  'payment.declined',
  'a saved payment method was charged for an invoice, and declined',
);
export const paymentConfirmationWanted = event<PaymentConfirmationWanted>(
  'payment.confirmation_wanted',
  'the bank of a saved payment method wants its owner to confirm a payment',
);
export const disputeOpened = event<DisputeOpened>(
  'dispute.opened',
  'a customer told the bank that a payment was none of theirs',
);
export const disputeClosed = event<DisputeClosed>(
  'dispute.closed',
  'a bank decided whose a disputed payment is',
);
export const creditReturnAsked = event<CreditReturnOpen>(
  'credit_return.asked',
  'staff took credit from an organization to pay it out by bank transfer',
);
export const creditReturnDone = event<CreditReturnDone>(
  'credit_return.done',
  'the transfer that pays credit out has left the bank',
);
export const creditReturnCancelled = event<CreditReturnOpen>(
  'credit_return.cancelled',
  'credit that was to be paid out is there again',
);
export const disputeSettled = event<DisputeSettled>(
  'dispute.settled',
  'staff decided whose the money of a dispute is that was won after it was lost',
);
export const paymentMethodSaved = event<PaymentMethodSaved>(
  'payment_method.saved',
  'a payment method was saved at the payment provider',
);
export const paymentMethodRemoved = event<PaymentMethodRemoved>(
  'payment_method.removed',
  'a payment method was removed, here or at the payment provider',
);
export const paymentMethodChosen = event<PaymentMethodChosen>(
  'payment_method.chosen',
  'a payment method became the default one, or stopped being it',
);
export const bankStatementReceived = event<BankStatementReceived>(
  'bank_statement.received',
  'staff handed in a statement of the bank',
);
export const bankEntryDismissed = event<BankEntryDismissed>(
  'bank_entry.dismissed',
  'staff said that money on a bank statement is no customer’s',
);
export const unknownPaymentBooked = event<UnknownPaymentBooked>(
  'unknown_payment.booked',
  'staff said which invoice a payment is for that only the provider knew',
);
export const unknownPaymentDismissed = event<UnknownPaymentDismissed>(
  'unknown_payment.dismissed',
  'staff said that a payment that only the provider knew is none of ours',
);
export const restoreReleased = event<RestoreReleased>(
  'restore.released',
  'staff let go on what was held since the database had been restored',
);
export const transferTakenBack = event<TransferTakenBack>(
  'transfer.taken_back',
  'staff took back a bank transfer that was booked by mistake',
);
