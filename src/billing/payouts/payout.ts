import type { PayoutTruth } from '../../drivers/payments/index.ts';

export type PayoutState = PayoutTruth['state'];

/** A payout as we know it. */
export interface Payout {
  id: number;
  driver: string;
  reference: string;
  state: PayoutState;
  amount_minor: number;
  currency: string;
  arrives_on: string;
  booked_minor: number;
  fee_minor: number;
  bank_entry_id: number | null;
}
