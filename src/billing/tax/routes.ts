import { IdParams, Nothing, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { addRate, endRate, listRates, lockRate, readRate, removeRate } from './rates.ts';
import { exportTax, reportTax } from './report.ts';
import * as S from './schema.ts';
import { changeTaxStanding, lockTaxStanding, readTaxStanding } from './standing.ts';

const staffRoles = ['administrator', 'billing'];

const group = {
  tag: 'Staff: tax',
  about: 'Rates of tax, and what is known of customers for theirs.',
  examples,
};

export const taxStaffRoutes = routes('/staff', group, (route) => {
  route.get(
    '/tax/rates',
    {
      auth: 'staff',
      area: 'billing',
      operation: 'listTaxRates',
      summary: 'List tax rates',
      description: 'Every rate with the days on which it counts. A country that has none is not taxed by it.',
      query: S.TaxRateQuery,
      data: S.TaxRateList,
    },
    (ctx, req) => listRates(ctx, req.query),
  );
  route.post(
    '/tax/rates',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'addTaxRate',
      summary: 'Add a tax rate',
      description:
        "Lists a country's rate from a day on; the one before it counts until the day before. Invoices that exist stay " +
        'as they are, and one that is issued ahead carries the rate of the day of supply.',
      body: S.NewTaxRate,
      data: S.TaxRateData,
      errors: ['conflict'],
    },
    (ctx, req) => addRate(ctx, req.body),
  );
  route.get(
    '/tax/rates/:id',
    {
      auth: 'staff',
      area: 'billing',
      operation: 'getTaxRate',
      summary: 'Get a tax rate',
      description: 'One rate with the days on which it counts.',
      params: IdParams,
      data: S.TaxRateData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readRate(ctx, req.params.id),
  );
  route.post(
    '/tax/rates/:id/end',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'endTaxRate',
      summary: 'End a tax rate',
      description:
        'Lets a rate count until a day; after it the country is not taxed, until another rate begins.',
      params: IdParams,
      body: S.TaxRateEnd,
      data: S.TaxRateData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => endRate(ctx, req.params.id, req.body),
  );
  route.delete(
    '/tax/rates/:id',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'removeTaxRate',
      summary: 'Remove a tax rate',
      description: 'Takes a rate back that does not count yet.',
      params: IdParams,
      data: Nothing,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockRate(tx, req.params.id),
    },
    (ctx, req) => removeRate(ctx, req.params.id),
  );
  route.get(
    '/tax/report',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'getTaxReport',
      summary: 'Report the tax of a quarter',
      description:
        'What was paid (or issued, where invoices count from then on) and given back in a quarter (in UTC) by country, rate ' +
        'and kind of buyer, for tax returns and the one-stop shop. It is made from invoices, and says whether the ledger has the same.',
      query: S.TaxReportQuery,
      data: S.TaxReport,
    },
    (ctx, req) => reportTax(ctx, req.query.quarter),
  );
  route.get(
    '/tax/report/csv',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'exportTaxReport',
      summary: 'Export the tax of a quarter',
      description: 'The rows of the report as CSV, with a header.',
      query: S.TaxReportQuery,
      produces: 'text/csv',
    },
    (ctx, req) => exportTax(ctx, req.query.quarter),
  );
  route.get(
    '/organizations/:id/tax',
    {
      auth: 'staff',
      area: 'billing',
      operation: 'getTaxStanding',
      summary: 'Get what is known of an organization for its tax',
      description: 'What its next invoice carries and why, with what the register says of its VAT id.',
      params: IdParams,
      data: S.TaxStandingData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readTaxStanding(ctx, req.params.id),
  );
  route.patch(
    '/organizations/:id/tax',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'updateTaxStanding',
      summary: 'Exempt an organization, or say what its VAT id is',
      description:
        'An exemption has a reason, which invoices from now on show. What the register could not tell of a VAT id, staff ' +
        'may find out by hand.',
      params: IdParams,
      body: S.TaxStandingChange,
      data: S.TaxStandingData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockTaxStanding(tx, req.params.id),
    },
    (ctx, req) => changeTaxStanding(ctx, req.params.id, req.body),
  );
});
