/** An account of the ledger: whose it is, on which side of the books it stands, and what its balance means. */
interface Account {
  /** One for the provider, or one for each organization; either of them once a currency. */
  whose: 'provider' | 'organization';
  type: 'asset' | 'liability' | 'income' | 'expense';
  means: string;
}

/** The chart of accounts. A new one is a row here and a kind in the check of `ledger_accounts`. */
export const accounts = {
  bank: { whose: 'provider', type: 'asset', means: "money on the provider's own bank accounts" },
  provider: {
    whose: 'provider',
    type: 'asset',
    means: 'money that a payment provider has taken in and not paid out yet',
  },
  receivable: {
    whose: 'organization',
    type: 'asset',
    means: 'what a customer owes for invoices that count since they were issued, whole until they are paid',
  },
  disputes: {
    whose: 'provider',
    type: 'asset',
    means: 'money that a payment provider holds back because a payment is disputed, until that is decided',
  },
  credit: {
    whose: 'organization',
    type: 'liability',
    means: 'what a customer has paid or was given and has not spent',
  },
  given_up: {
    whose: 'organization',
    type: 'income',
    means:
      'credit that a customer gave up with its account, less what was taken back of the money that had brought it',
  },
  parts: {
    whose: 'provider',
    type: 'liability',
    means: "money towards invoices that are not paid in full: the customers' still",
  },
  deferred: {
    whose: 'provider',
    type: 'liability',
    means: 'money for periods of services that are not over yet',
  },
  tax: { whose: 'provider', type: 'liability', means: 'tax that was collected and belongs to the state' },
  revenue: { whose: 'provider', type: 'income', means: 'what was earned, without tax' },
  goodwill: { whose: 'provider', type: 'expense', means: 'credit that customers got and did not pay for' },
  fees: { whose: 'provider', type: 'expense', means: 'what payment providers keep for their work' },
  losses: {
    whose: 'provider',
    type: 'expense',
    means: 'money that a bank took back after the customer had spent it, and that nobody has any more',
  },
} satisfies Record<string, Account>;

export type AccountKind = keyof typeof accounts;

/** What a posting moves by name; credit has a field of its own, since its balance must not fall below zero. */
export type PostedAccount = Exclude<AccountKind, 'credit'>;

/** What happens in the ledger, by name. */
export const postingKinds = {
  invoice_issued: 'an invoice that counts before it is paid was issued',
  invoice_taken_back: 'an invoice that counted before it was paid was given up',
  invoice_paid: 'an invoice was paid in full',
  invoice_part_paid: 'a part of an invoice was paid',
  part_returned: 'what was paid towards an invoice went back to the credit',
  invoice_refunded: 'money of a paid invoice was given back',
  refund_undone: 'a bank gave back what it had taken of an invoice, which is paid by it again',
  revenue_earned: 'what was paid for a period was earned',
  credit_granted: 'staff gave credit',
  transfer_credited: 'a bank transfer, or what was left of it, became credit',
  charge_credited: 'money by a payment provider, or what was left of it, became credit',
  credit_given_up: 'what was left of the credit was given up when the organization was closed',
  credit_returned: 'credit was paid out by bank transfer, or was not after all',
  provider_payout: 'money went from a payment provider to the bank, or came back from there',
  provider_fee: 'what a payment provider kept for its work',
  refund_failed: 'a refund did not arrive, and became credit',
  charge_taken_back: 'money by a payment provider went back without our doing',
  dispute_opened: 'a bank took money back until a dispute is decided',
  dispute_won: 'a dispute was decided for us, and the money is back',
  transfer_taken_back: 'a bank transfer that was booked by mistake was taken back',
} as const;

export type PostingKind = keyof typeof postingKinds;
