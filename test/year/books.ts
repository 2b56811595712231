/** What is known outside of the product: what the bank, the payment provider and answers have said, by organization. */
export interface Known {
  /** Money that the bank has, and was not taken back. */
  transfers: { id: number; reference: string; minor: number; isTakenBack: boolean }[];
  /** Credit that staff gave. */
  granted: number;
  /** What went back, by the answers to those who gave it back. */
  refunds: { invoiceId: number; minor: number; toCredit: number; toCard: number }[];
  /** Credit that was paid out by bank transfer. */
  paidOut: number;
}

/** What a service costs and since when it is had, as its customer was told. */
export interface Had {
  id: number;
  product: string;
  cycleMonths: number;
  /** Of a period, before tax; each price that counted, the newest last. */
  prices: { minor: number; from: string }[];
  invoiceId: number;
  /** Its customer has ended it, or means to. */
  isLeft: boolean;
  isOff: boolean;
}

/** The books outside, by organization. */
export class Books {
  readonly #known = new Map<number, Known>();

  of(organizationId: number): Known {
    const known = this.#known.get(organizationId);
    if (known !== undefined) return known;
    const fresh: Known = { transfers: [], granted: 0, refunds: [], paidOut: 0 };
    this.#known.set(organizationId, fresh);
    return fresh;
  }

  get all(): Known[] {
    return [...this.#known.values()];
  }
}

export function minorOf(text: string): number {
  const [, sign, whole = '0', cents = '0'] = /^(-?)(\d+)\.(\d\d)$/.exec(text) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(whole) * 100 + Number(cents));
}

export function textOf(minor: number): string {
  return `${minor < 0 ? '-' : ''}${Math.floor(Math.abs(minor) / 100)}.${String(Math.abs(minor) % 100).padStart(2, '0')}`;
}

export function daysBetween(one: string, other: string): number {
  return Math.round((Date.parse(other) - Date.parse(one)) / 86_400_000);
}

export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
}
