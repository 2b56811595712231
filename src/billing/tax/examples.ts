import { type Example, exampleIds as ids, onlyPage } from '../../platform/http/index.ts';

const rate = { id: 1, country: 'NL', rate: '21.00', valid_from: '2099-07-01', valid_until: null };

const standing = {
  treatment: 'outside',
  country: 'DE',
  rate: '0.00',
  consumer: false,
  exempt_reason: null,
  tax_id: {
    tax_id: 'DE136695976',
    state: 'unknown',
    checked_at: null,
    checked_by: null,
    consultation_number: null,
    registered_name: null,
    registered_address: null,
    unknown_since: '2026-01-31T22:02:15.120Z',
    tries: 1,
    failure: 'no register of VAT ids is set; see VAT',
    next_ask_at: '2026-02-01T22:02:15.231Z',
  },
};

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  addTaxRate: { body: { country: 'NL', rate: '21.00', valid_from: '2099-07-01' }, data: { rate } },
  getTaxRate: { params: { id: 1 }, data: { rate } },
  listTaxRates: { query: { country: 'NL' }, data: { rates: [rate], ...onlyPage(1) } },
  endTaxRate: {
    params: { id: 1 },
    body: { valid_until: '2099-12-31' },
    data: { rate: { ...rate, valid_until: '2099-12-31' } },
  },
  removeTaxRate: { params: { id: 1 }, data: {} },
  getTaxReport: {
    query: { quarter: '2026-Q1' },
    data: {
      quarter: '2026-Q1',
      from: '2026-01-01',
      until: '2026-03-31',
      rows: [
        {
          ...{
            country: 'FR',
            treatment: 'taxed',
            rate: '20.00',
            consumer: true,
            one_stop_shop: true,
            currency: 'EUR',
          },
          ...{ invoices: 12, net: '84.00', tax: '16.80', returned_net: '7.00', returned_tax: '1.40' },
          ...{ taxable: '77.00', tax_due: '15.40', unproven: 0 },
        },
      ],
      totals: [{ currency: 'EUR', tax_due: '15.40', ledger: '15.40', difference: '0.00' }],
    },
  },
  exportTaxReport: { query: { quarter: '2026-Q1' }, data: null },
  getTaxStanding: { params: { id: ids.organization }, data: { tax: standing } },
  updateTaxStanding: {
    params: { id: ids.organization },
    body: { tax_id_state: 'valid', consultation_number: 'WAPIAAAAYeR' },
    data: {
      tax: {
        ...standing,
        tax_id: {
          ...standing.tax_id,
          state: 'valid',
          checked_at: '2026-01-31T22:12:40.003Z',
          checked_by: 'staff',
          consultation_number: 'WAPIAAAAYeR',
          unknown_since: null,
          tries: 0,
          failure: null,
          next_ask_at: null,
        },
      },
    },
  },
} satisfies Record<string, Example>;
