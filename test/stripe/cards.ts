/**
 * The numbers with which Stripe's test mode behaves in known ways, and the names of methods made of them.
 * Source: https://docs.stripe.com/testing
 */
export interface TestCard {
  number: string;
  brand: string;
  /** Its bank wants the customer there: once, when it is saved, or always. */
  authenticates?: 'once' | 'always';
  /** Declined wherever it is used. */
  declines?: string;
  /** Can be saved, and is declined when it is charged. */
  declinesLater?: string;
  /** The customer disputes the charge. */
  disputes?: boolean;
  /** Money that goes back to it does not arrive. */
  losesRefunds?: boolean;
}

const cards: TestCard[] = [
  { number: '4242424242424242', brand: 'visa' },
  { number: '5555555555554444', brand: 'mastercard' },
  { number: '4000002500003155', brand: 'visa', authenticates: 'once' },
  { number: '4000002760003184', brand: 'visa', authenticates: 'always' },
  { number: '4000000000000002', brand: 'visa', declines: 'generic_decline' },
  { number: '4000000000009995', brand: 'visa', declines: 'insufficient_funds' },
  { number: '4000000000009987', brand: 'visa', declines: 'lost_card' },
  { number: '4000000000000341', brand: 'visa', declinesLater: 'generic_decline' },
  { number: '4000000000000259', brand: 'visa', disputes: true },
  { number: '4000000000005126', brand: 'visa', losesRefunds: true },
];

/** Accounts for a direct debit, which is on its way for days: the first arrives, the second does not. */
export const ibans = { arrives: 'AT611904300234573201', fails: 'AT861904300235473202' } as const;

const tokens: Readonly<Record<string, string>> = {
  pm_card_visa: '4242424242424242',
  pm_card_mastercard: '5555555555554444',
  pm_card_authenticationRequired: '4000002760003184',
  pm_card_chargeCustomerFail: '4000000000000341',
  pm_card_createDispute: '4000000000000259',
  pm_card_refundFail: '4000000000005126',
};

export function cardOf(number: string): TestCard | null {
  return cards.find((card) => card.number === number) ?? null;
}

/** The card behind a name such as `pm_card_visa`. */
export function cardNamed(token: string): TestCard | null {
  return cardOf(tokens[token] ?? '');
}
