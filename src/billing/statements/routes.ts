import { IdParams, Raw, routes } from '../../platform/http/index.ts';
import { statementLimits } from './camt.ts';
import { bookBankEntry, dismissBankEntry } from './decide.ts';
import { examples } from './examples.ts';
import { listEntries, listStatements, readStatement } from './read.ts';
import { receiveStatements } from './receive.ts';
import * as S from './schema.ts';

const staffRoles = ['administrator', 'billing'];
const group = {
  tag: 'Staff: billing',
  about: 'Money that came in or goes back.',
  examples,
};

export const bankStatementRoutes = routes('/staff/bank-statements', group, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'listBankStatements',
      summary: 'List bank statements',
      description: 'Every statement that was received, newest first, with how many of its entries are where.',
      query: S.BankStatementQuery,
      data: S.BankStatementList,
    },
    (ctx, req) => listStatements(ctx, req.query),
  );
  route.post(
    '',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'receiveBankStatement',
      summary: 'Receive a bank statement',
      description:
        "Takes the bank's file in CAMT.053 (ISO 20022, UTF-8, at most 16 MiB and 20,000 entries). Money that names an " +
        'invoice by its id, its number or a creditor reference (ISO 11649) pays it within seconds; anything else is ' +
        'proposed to staff by amount, name and account, or left open. What an earlier file had has no second effect.',
      body: Raw(['application/xml', 'text/xml']),
      bodyLimit: statementLimits.bytes,
      data: S.BankStatementsReceived,
      errors: ['invalid_statement'],
    },
    (ctx, req) => receiveStatements(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'getBankStatement',
      summary: 'Get a bank statement',
      description: 'One statement with how many of its entries are where.',
      params: IdParams,
      data: S.BankStatementData,
      errors: ['not_found'],
    },
    (ctx, req) => readStatement(ctx, req.params.id),
  );
  route.get(
    '/:id/entries',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'listBankEntries',
      summary: 'List the entries of a bank statement',
      description: 'In the order in which the bank has them, each with what became of it or whose it may be.',
      params: IdParams,
      query: S.BankEntryQuery,
      data: S.BankEntryList,
      errors: ['not_found'],
    },
    (ctx, req) => listEntries(ctx, req.params.id, req.query),
  );
  route.post(
    '/:id/entries/:entry_id/book',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'bookBankEntry',
      summary: 'Book an entry of a bank statement',
      description:
        'Says whose money it is: as proposed, or as the request says. It pays what is due as a bank transfer does, and ' +
        'what is more becomes account credit.',
      params: S.EntryParams,
      body: S.BankEntryBooking,
      data: S.BankEntryData,
      errors: [
        'not_found',
        'invalid_amount',
        'payment_mismatch',
        'invoice_not_payable',
        'conflict',
        'amount_too_large',
      ],
    },
    (ctx, req) => bookBankEntry(ctx, req.params.id, req.params.entry_id, req.body),
  );
  route.post(
    '/:id/entries/:entry_id/dismiss',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'dismissBankEntry',
      summary: 'Dismiss an entry of a bank statement',
      description: "Says that an entry is no customer's, such as interest; it waits for nobody any more.",
      params: S.EntryParams,
      body: S.BankEntryDismissal,
      data: S.BankEntryData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => dismissBankEntry(ctx, req.params.id, req.params.entry_id, req.body.reason),
  );
});
