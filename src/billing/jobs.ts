import type { AnySaga, PeriodicJob } from '../platform/index.ts';
import { closing } from './bookkeeping/close.ts';
import { forgettingBooks } from './bookkeeping/forget.ts';
import { pageClosing } from './charges/closePages.ts';
import { compareProvider, comparing } from './charges/compare.ts';
import { followProvider } from './charges/follow.ts';
import { chargeAgain, payFromCreditJob, savedCharge } from './charges/saved.ts';
import { sendingBack } from './charges/sendBack.ts';
import { documentForgetting } from './documents/forget.ts';
import { ledgerCheck } from './ledger/check.ts';
import { earning } from './ledger/deferred.ts';
import { forgetCustomer, forgetMethod } from './methods/methods.ts';
import { taxIdCheck } from './tax/ask.ts';

/** What is done with a payment provider, a register of VAT ids and the files of documents. */
export const billingJobs: AnySaga[] = [
  ...[followProvider, savedCharge, chargeAgain, payFromCreditJob, forgetMethod, forgetCustomer],
  ...[sendingBack, compareProvider, pageClosing, taxIdCheck, documentForgetting],
];

/** What the books and the payment provider need again and again. */
export const billingPeriodicJobs: PeriodicJob[] = [ledgerCheck, earning, closing, comparing, forgettingBooks];
