import type { PaymentProvider } from '../../config.ts';
import { stripeLeastMinor } from './stripe/least.ts';

const leastOf: Record<PaymentProvider | 'none', (currency: string) => number> = {
  stripe: stripeLeastMinor,
  none: () => 1,
};

/** What `leastMinor` of that provider's engine says, for rules that run in a transaction, where no driver is at hand. */
export function leastMinorOf(provider: PaymentProvider | 'none', currency: string): number {
  return leastOf[provider](currency);
}
