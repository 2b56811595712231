import { Type } from 'typebox';
import {
  Choice,
  ListQuery,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { CurrencyAsked } from '../schema.ts';
import { rowsOfFile } from './datev.ts';

const MonthText = Type.String({
  pattern: '^2[0-9]{3}-(0[1-9]|1[0-2])$',
  'x-message': 'must be a month such as 2026-10',
  examples: ['2026-10'],
});

export const PeriodQuery = ListQuery({ sort: SortBy(['month'], '-month') });

export const PeriodList = named(
  'BookkeepingPeriodList',
  listOf(
    'periods',
    named(
      'BookkeepingPeriod',
      Type.Object({
        month: MonthText,
        state: Choice(['closing', 'closed']),
        transactions: Type.Integer({ description: 'Postings that it holds' }),
        closed_at: Nullable(Timestamp),
      }),
      'A month of the books; what it holds is settled when it is closed',
    ),
  ),
);

export const BookkeepingExportQuery = Strict({
  month: MonthText,
  format: Choice(['csv', 'datev'], {
    default: 'csv',
    description: '`datev`: EXTF, a batch of bookings (Buchungsstapel) in Windows-1252',
  }),
  currency: Type.Optional({
    ...CurrencyAsked,
    description: 'Only what is in this currency; DATEV takes one a file, EUR unless it is named',
  }),
  part: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: `For DATEV: which file of the month, of ${rowsOfFile} bookings each; default: the first`,
    }),
  ),
});
