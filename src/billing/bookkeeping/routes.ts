import { routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { exportBookkeeping } from './export.ts';
import { listPeriods } from './periods.ts';
import * as S from './schema.ts';

const group = { tag: 'Staff: billing', about: 'Money that came in or goes back.', examples };
const staff = { auth: 'staff', area: 'billing', staffRoles: ['administrator', 'billing'] } as const;

export const bookkeepingRoutes = routes('/staff/bookkeeping', group, (route) => {
  route.get(
    '/periods',
    {
      ...staff,
      operation: 'listBookkeepingPeriods',
      summary: 'List months of the books',
      description:
        'The months that are closed, newest first. A month closes by itself an hour after its end, once all that falls to it ' +
        'is earned; what it holds never changes afterwards.',
      query: S.PeriodQuery,
      data: S.PeriodList,
    },
    (ctx, req) => listPeriods(ctx, req.query),
  );
  route.get(
    '/export',
    {
      ...staff,
      operation: 'exportBookkeeping',
      summary: 'Export the books of a month',
      description:
        'All entries of the ledger in a month that is closed, for the bookkeeper: as CSV with a line for each entry, or in ' +
        "DATEV's format with a line for each pair of accounts. The bookkeeper's account numbers are in the settings " +
        '(`bookkeeping`). The same month is the same file each time; no cell begins a formula.',
      query: S.BookkeepingExportQuery,
      produces: 'text/csv; charset=utf-8',
      errors: ['period_open', 'bookkeeping_incomplete'],
    },
    (ctx, req) => exportBookkeeping(ctx, req.query),
  );
});
