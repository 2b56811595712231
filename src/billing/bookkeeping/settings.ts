import { type Static, Type } from 'typebox';
import { Choice, Nullable, Strict } from '../../platform/http/index.ts';
import { settings } from '../../settings/index.ts';
import { type AccountKind, accounts } from '../ledger/accounts.ts';

const kinds = Object.keys(accounts) as AccountKind[];

/** What the accounts are called in the two charts that most bookkeepers in Germany work by, in four digits. */
const presets: Record<'SKR03' | 'SKR04', Record<AccountKind, string>> = {
  SKR03: {
    ...{
      bank: '1200',
      provider: '1360',
      receivable: '1410',
      disputes: '1500',
      credit: '1700',
      parts: '1710',
    },
    ...{ deferred: '0990', tax: '1776', revenue: '8200', goodwill: '4900', fees: '4970', losses: '2400' },
    ...{ given_up: '2709' },
  },
  SKR04: {
    ...{
      bank: '1800',
      provider: '1460',
      receivable: '1210',
      disputes: '1300',
      credit: '3500',
      parts: '3250',
    },
    ...{ deferred: '3900', tax: '3806', revenue: '4200', goodwill: '6300', fees: '6855', losses: '6930' },
    ...{ given_up: '4839' },
  },
};

const AccountNumber = (description: string) =>
  Nullable(
    Type.String({
      pattern: '^[0-9]{4,9}$',
      'x-message': 'must be the number of an account, four to nine digits',
      description,
      examples: ['1200'],
    }),
  );

type AccountFields = { [kind in AccountKind as `account_${kind}`]: ReturnType<typeof AccountNumber> };
const accountFields = Object.fromEntries(
  kinds.map((kind) => [
    `account_${kind}`,
    AccountNumber(`Account for: ${accounts[kind].means}; null: that of the chart`),
  ]),
) as AccountFields;
const noAccounts = Object.fromEntries(kinds.map((kind) => [`account_${kind}`, null])) as {
  [field in keyof AccountFields]: string | null;
};

/** How the books go to the bookkeeper, and how long they name customers who are gone. */
export const bookkeeping = settings({
  name: 'bookkeeping',
  about:
    "How the ledger is exported: the bookkeeper's accounts, and what DATEV has to know; and how long the books are kept",
  shape: Strict({
    chart: Choice(['SKR03', 'SKR04'], { description: 'The chart of accounts that numbers are taken from' }),
    account_length: Type.Integer({
      minimum: 4,
      maximum: 8,
      description: 'Digits of an account; those of the chart get zeros at their end',
    }),
    consultant: Nullable(
      Type.Integer({ minimum: 1_001, maximum: 9_999_999, description: "The bookkeeper's number at DATEV" }),
    ),
    client: Nullable(
      Type.Integer({ minimum: 1, maximum: 99_999, description: "The company's number at the bookkeeper" }),
    ),
    fiscal_year_start: Type.Integer({
      minimum: 1,
      maximum: 12,
      description: 'Month in which the fiscal year begins',
    }),
    automatic_accounts: Type.Array(
      Type.String({
        pattern: '^[0-9]{4,9}$',
        'x-message': 'must be the number of an account, four to nine digits',
        examples: ['8400'],
      }),
      {
        maxItems: 100,
        description:
          'Accounts that work out tax by themselves at the bookkeeper. Ours has been worked out, so bookings on them say ' +
          'not to (BU key 40)',
      },
    ),
    // Read by `books_kept_until`, in its migration.
    years_kept: Type.Integer({
      minimum: 5,
      maximum: 50,
      description:
        'Years for which the law wants documents kept, from the end of that in which the last one of an organization was ' +
        'issued or its money moved. Once they are over, invoices and bank entries of an organization that was closed name it no more',
    }),
    bank_accounts: Type.Array(
      Type.String({
        pattern: '^[A-Za-z0-9]{5,34}$',
        'x-message': 'must be an IBAN or the number of an account, in letters and digits without spaces',
        examples: ['NL91ABNA0417164300'],
      }),
      {
        maxItems: 20,
        description:
          'Accounts of the company whose bank statements are taken, besides the one that customers transfer to (`iban` of the section `company`). Statements of any other account are refused',
      },
    ),
    ...accountFields,
  }),
  defaults: {
    ...{ chart: 'SKR03', account_length: 4, consultant: null, client: null, fiscal_year_start: 1 },
    ...{ automatic_accounts: [], years_kept: 10, bank_accounts: [], ...noAccounts },
  },
  example: {
    ...{ chart: 'SKR04', account_length: 4, consultant: 29_098, client: 55_003, fiscal_year_start: 1 },
    ...{ automatic_accounts: ['4400'], years_kept: 10, bank_accounts: ['NL91ABNA0417164300'] },
    ...{ ...noAccounts, account_revenue: '4400' },
  },
  check: (value) => {
    const { account_length: length, fiscal_year_start: _, ...fields } = value;
    const wrong = Object.entries(fields).find(
      ([name, number]) =>
        name.startsWith('account_') &&
        typeof number === 'string' &&
        number.length !== length &&
        number.length !== length + 1,
    );
    if (wrong === undefined) return null;
    return {
      field: wrong[0],
      message: `must have ${length} digits, or ${length + 1} for the account of a person`,
    };
  },
});

export type Bookkeeping = Static<typeof bookkeeping.shape>;

/** The bookkeeper's number of each of our accounts. */
export function numbersOf(value: Bookkeeping): Record<AccountKind, string> {
  const { chart, account_length: length } = value;
  return Object.fromEntries(
    kinds.map((kind) => [kind, value[`account_${kind}`] ?? presets[chart][kind].padEnd(length, '0')]),
  ) as Record<AccountKind, string>;
}
