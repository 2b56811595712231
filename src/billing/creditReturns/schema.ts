import { Type } from 'typebox';
import { OrganizationName } from '../../organizations/index.ts';
import {
  Choice,
  Day,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  meaning,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { CurrencyAsked } from '../schema.ts';

const states = ['open', 'done', 'cancelled'] as const;

const Reason = Type.String({ minLength: 1, maxLength: 200, description: 'Shown to the customer' });
const Currency = Type.String({ examples: ['EUR'] });

const CreditReturn = named(
  'CreditReturn',
  Type.Object({
    id: Id,
    organization: OrganizationName,
    amount: MoneyText,
    currency: Currency,
    reason: Type.String(),
    state: Choice(states, {
      description:
        '`open`: it is taken from the credit, and staff has yet to make the transfer; `done`: that has left the bank; `cancelled`: the credit is there again',
    }),
    paid_on: Nullable(meaning('The day on which it left the bank', Day)),
    created_at: Timestamp,
    decided_at: Nullable(Timestamp),
  }),
  'Credit that is paid out by bank transfer',
);

export const NewCreditReturn = named(
  'NewCreditReturn',
  Strict({
    amount: Type.Optional(
      Type.String({
        maxLength: 20,
        description: 'Default: all that can be paid out',
        examples: ['12.50'],
      }),
    ),
    currency: CurrencyAsked,
    reason: Reason,
    dry_run: Type.Optional(Type.Boolean({ description: 'Only show what it would be' })),
  }),
);
export const ReturnedCredit = named(
  'ReturnedCredit',
  Type.Object({
    dry_run: Type.Boolean(),
    amount: MoneyText,
    currency: Currency,
    credit_balance: meaning('What there was before', MoneyText),
    returnable: meaning(
      'What of that could be paid out: what the organization brought itself, did not use up, and no bank holds. Gifts are used first',
      MoneyText,
    ),
    credit_return: Nullable(CreditReturn),
  }),
);
export const Finished = named(
  'CreditReturnFinish',
  Strict({ paid_on: meaning('The day on which the transfer left the bank', Day) }),
);
export const Cancelled = named('CreditReturnCancellation', Strict({ reason: Reason }));
export const CreditReturnQuery = ListQuery({
  organization_id: Type.Optional(Id),
  state: Type.Optional(Choice(states)),
  sort: SortBy(['created_at'], '-created_at'),
});
export const CreditReturnList = named('CreditReturnList', listOf('credit_returns', CreditReturn));
export const CreditReturnData = named('CreditReturnAnswer', Type.Object({ credit_return: CreditReturn }));
