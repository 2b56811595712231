import type { AnySaga } from '../platform/index.ts';
import { pageClosing } from './charges/closePages.ts';
import { compareProvider } from './charges/compare.ts';
import { followProvider } from './charges/follow.ts';
import { chargeAgain, savedCharge } from './charges/saved.ts';
import { sendingBack } from './charges/sendBack.ts';
import { forgetMethod } from './methods/methods.ts';
import { taxIdCheck } from './tax/ask.ts';

/** What is done with a payment provider and a register of VAT ids. */
export const billingJobs: AnySaga[] = [
  ...[followProvider, savedCharge, chargeAgain, forgetMethod],
  ...[sendingBack, compareProvider, pageClosing, taxIdCheck],
];
