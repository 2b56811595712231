import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { exportInvoicesForStaff } from './export.ts';
import { readPdfForStaff, readXmlForStaff } from './read.ts';
import * as S from './schema.ts';

/** Support answers what customers ask about their bills. */
const readers = ['administrator', 'billing', 'support'];

const group = { tag: 'Staff: billing', about: 'Money that came in or goes back.', examples };

export const documentStaffRoutes = routes('/staff/invoices', group, (route) => {
  route.get(
    '/export',
    {
      auth: 'staff',
      staffRoles: ['administrator', 'billing'],
      area: 'billing',
      operation: 'exportInvoicesAsStaff',
      summary: 'Export invoices as staff',
      description: 'The same as the export of an organization, of all of them.',
      query: S.ExportQuery,
      produces: 'text/csv; charset=utf-8',
    },
    (ctx, req) => exportInvoicesForStaff(ctx, req.query),
  );
  route.get(
    '/:id/pdf',
    {
      auth: 'staff',
      staffRoles: readers,
      area: 'billing',
      operation: 'getInvoicePdfAsStaff',
      summary: 'Get invoice as PDF as staff',
      description: 'What its customer gets, whoever owns it.',
      params: IdParams,
      query: S.PdfQuery,
      produces: 'application/pdf',
      drivers: ['files'],
      errors: ['not_found', 'document_incomplete'],
    },
    (ctx, req) => readPdfForStaff(ctx, req.drivers.files, req.params.id, req.query.format),
  );
  route.get(
    '/:id/xml',
    {
      auth: 'staff',
      staffRoles: readers,
      area: 'billing',
      operation: 'getElectronicInvoiceAsStaff',
      summary: 'Get electronic invoice as staff',
      description: 'What its customer gets, whoever owns it.',
      params: IdParams,
      query: S.XmlQuery,
      produces: 'application/xml',
      drivers: ['files'],
      errors: ['not_found', 'document_incomplete'],
    },
    (ctx, req) => readXmlForStaff(ctx, req.drivers.files, req.params.id, req.query.format),
  );
});
