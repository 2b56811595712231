/** What a posting moved of an organization's credit, in minor units. */
export interface Movement {
  invoice_id: number | null;
  /** Positive: the organization has more afterwards. */
  credit_minor: number;
  /** Of that, what was given to it (positive) or taken back as given by mistake (negative). */
  given_minor: number;
  /** Money that came from outside (positive) or went there (negative) by the same posting. */
  money_minor: number;
}

/**
 * What of a credit was given and is still there, after all its movements in their order. Of what is spent, gifts go first,
 * those that are there on that day: one that comes later pays nothing of the past. What an invoice gives back is a gift
 * again as far as gifts had paid that invoice. Money that came or went is none.
 */
export function giftsLeft(movements: readonly Movement[]): number {
  const paidByGifts = new Map<number | null, number>();
  let [balance, gifts] = [0, 0];
  for (const { invoice_id: invoice, credit_minor, given_minor, money_minor } of movements) {
    balance += credit_minor;
    gifts += given_minor;
    const rest = credit_minor - given_minor;
    const money = rest > 0 ? Math.max(0, money_minor) : Math.min(0, money_minor);
    const paid = paidByGifts.get(invoice) ?? 0;
    const moved =
      rest > 0
        ? Math.min(paid, Math.max(0, rest - money))
        : -Math.min(Math.max(0, gifts), Math.max(0, money - rest));
    gifts += moved;
    paidByGifts.set(invoice, paid - moved);
    // Money that left took of the gifts what there was no own money for.
    gifts = Math.max(0, Math.min(gifts, balance));
  }
  return gifts;
}
