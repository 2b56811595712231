import { defineConfig } from 'vitest/config';

/** The tests of money that need nothing but themselves: fast enough to be run once for every mutant. */
export default defineConfig({
  test: {
    root: '.',
    include: [
      'src/platform/money.test.ts',
      'src/services/prorate.test.ts',
      'src/services/share.test.ts',
      'src/billing/invoices/totals.test.ts',
      'src/billing/tax/decide.test.ts',
      'src/billing/tax/union.test.ts',
      'src/billing/ledger/months.test.ts',
    ],
    testTimeout: 60_000,
  },
});
