import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { exportInvoices } from './export.ts';
import { readPdf, readXml } from './read.ts';
import * as S from './schema.ts';

const group = { tag: 'Billing', about: 'Invoices and how they are paid.', examples };

export const documentRoutes = routes('/dashboard/invoices', group, (route) => {
  route.get(
    '/export',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'exportInvoices',
      summary: 'Export invoices',
      description:
        'The invoices and credit notes that were issued in a period, in that order, as CSV for bookkeeping. What has no ' +
        'number yet is not in it. Credit notes are negative, so that the columns add up; no cell begins a formula.',
      query: S.ExportQuery,
      produces: 'text/csv; charset=utf-8',
      limit: 'documents',
    },
    (ctx, req) => exportInvoices(ctx, req.query),
  );
  route.get(
    '/:id/pdf',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'getInvoicePdf',
      summary: 'Get invoice as PDF',
      description:
        'The invoice or credit note as PDF/A-3. Once it has a number it is the same file each time; before that it is a ' +
        'request for payment.',
      params: IdParams,
      query: S.PdfQuery,
      produces: 'application/pdf',
      drivers: ['files'],
      errors: ['not_found', 'document_incomplete'],
      limit: 'documents',
    },
    (ctx, req) => readPdf(ctx, req.drivers.files, req.params.id, req.query.format),
  );
  route.get(
    '/:id/xml',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'getElectronicInvoice',
      summary: 'Get electronic invoice',
      description:
        'The invoice or credit note as an electronic invoice (EN 16931), for programs to read. What it lacks for the ' +
        'format, such as an address or the routing id of a public buyer, the error says.',
      params: IdParams,
      query: S.XmlQuery,
      produces: 'application/xml',
      drivers: ['files'],
      errors: ['not_found', 'document_incomplete'],
      limit: 'documents',
    },
    (ctx, req) => readXml(ctx, req.drivers.files, req.params.id, req.query.format),
  );
});
