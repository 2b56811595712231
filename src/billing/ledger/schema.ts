import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  meaning,
  Nullable,
  named,
  SortBy,
  Timestamp,
} from '../../platform/http/index.ts';
import { Credit, CurrencyAsked } from '../schema.ts';
import { type PostingKind, postingKinds } from './accounts.ts';

export const CreditTransactionQuery = ListQuery({
  currency: Type.Optional(CurrencyAsked),
  sort: SortBy(['created_at'], '-created_at'),
});

export const CreditTransactionList = named(
  'CreditTransactionList',
  listOf(
    'transactions',
    named(
      'CreditEntry',
      Type.Object({
        number: Type.Integer({ description: '1, 2, 3 … in the order in which they happened' }),
        kind: named(
          'CreditTransactionKind',
          Choice(Object.keys(postingKinds) as PostingKind[]),
          Object.entries(postingKinds)
            .map(([kind, means]) => `\`${kind}\`: ${means}`)
            .join('; '),
        ),
        amount: meaning('What was added; with a minus, what was taken', MoneyText),
        balance: meaning('What there was afterwards', MoneyText),
        currency: Type.String({ examples: ['EUR'] }),
        description: Type.String(),
        invoice_id: Nullable(Id),
        created_at: Timestamp,
      }),
      'A movement of account credit with the balance after it',
    ),
    { credits: Type.Array(Credit) },
  ),
);
