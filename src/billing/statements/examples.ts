import { type Example, exampleIds as ids, onlyPage } from '../../platform/http/index.ts';

const statement = {
  id: 4503599627370801,
  account: 'DE02120300000000202051',
  name: '2026-01-31/1',
  created_at: '2026-01-31T22:10:11.120Z',
  entries: { waiting: 0, booked: 1, proposed: 1, open: 0, dismissed: 0, outgoing: 1, known: 0 },
};

const customer = { id: ids.organization, name: 'Novak Labs' };

const proposed = {
  id: 4503599627370802,
  direction: 'in',
  amount: '25.00',
  currency: 'EUR',
  booked_on: '2026-01-31',
  reference: '2026013100001234',
  name: 'Novak Labs s.r.o.',
  iban: 'CZ6508000000192000145399',
  text: 'servers, January',
  reversal: false,
  state: 'proposed',
  outcome: 'It names no invoice',
  organization: null,
  proposals: [
    {
      organization: customer,
      invoice_ids: [ids.secondInvoice],
      because: 'the amount is due and the names are alike',
    },
  ],
  transfer_id: null,
};

const params = { id: statement.id, entry_id: proposed.id };

/** A statement with an entry that names no invoice. */
export const examples = {
  receiveBankStatement: {
    data: {
      statements: [{ ...statement, entries: { ...statement.entries, waiting: 2, booked: 0, proposed: 0 } }],
    },
  },
  listBankStatements: { query: {}, data: { statements: [statement], ...onlyPage(1) } },
  getBankStatement: { params: { id: statement.id }, data: { statement } },
  listBankEntries: {
    params: { id: statement.id },
    query: { state: 'proposed' },
    data: { bank_entries: [proposed], ...onlyPage(1) },
  },
  bookBankEntry: {
    params,
    body: { organization_id: ids.organization, invoices: [{ invoice_id: ids.secondInvoice }] },
    data: {
      entry: {
        ...proposed,
        state: 'booked',
        outcome: `paid invoice ${ids.secondInvoice}`,
        organization: customer,
        proposals: [],
        transfer_id: 4503599627370803,
      },
    },
  },
  dismissBankEntry: {
    params,
    body: { reason: 'Interest' },
    data: { entry: { ...proposed, state: 'dismissed', outcome: 'Interest', proposals: [] } },
  },
} satisfies Record<string, Example>;
