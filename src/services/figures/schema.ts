import { Type } from 'typebox';
import { MoneyText, meaning, named, Strict, Timestamp } from '../../platform/http/index.ts';

const MonthText = Type.String({
  pattern: '^2[0-9]{3}-(0[1-9]|1[0-2])$',
  'x-message': 'must be a month such as 2026-10',
  examples: ['2026-10'],
});

export const FiguresQuery = Strict({
  from: Type.Optional({ ...MonthText, description: 'First month; default: eleven before the last' }),
  to: Type.Optional({ ...MonthText, description: 'Last month, at most 36 in all; default: this one' }),
});

const amount = (description: string) => meaning(description, MoneyText);

const Recurring = named(
  'RecurringRevenue',
  Type.Object({
    start: amount('At the beginning of the month'),
    new: amount('Of services that were delivered'),
    expanded: amount('More than before, of services that were there'),
    contracted: amount('Less than before, of services that go on'),
    lost: amount('Of services that ended'),
    end: amount('At its end, or now: start + new + expanded − contracted − lost'),
  }),
  'What all services bring a month, before tax and coupons: each price over the months of its cycle',
);

const MonthFigures = named(
  'MonthFigures',
  Type.Object({
    month: MonthText,
    recurring: Recurring,
    earned: amount('Revenue that falls to the month, without tax; with a minus when more was given back'),
    deferred: amount('What is owed as service at the end of the month'),
    cash_in: amount('Money that customers paid, by transfer or a payment provider'),
    cash_out: amount('Money that went back to them'),
  }),
);

const Open = named(
  'OpenInvoices',
  Type.Object({
    invoices: Type.Integer(),
    total: MoneyText,
    not_due: MoneyText,
    days_0_30: MoneyText,
    days_31_60: MoneyText,
    days_61_90: MoneyText,
    days_over_90: MoneyText,
  }),
  'What is still to be paid of invoices, now, by the days since it was due; without those that buy credit',
);

export const Figures = named(
  'Figures',
  Type.Object({
    from: MonthText,
    to: MonthText,
    as_of: Timestamp,
    currencies: Type.Array(
      named(
        'CurrencyFigures',
        Type.Object({ currency: Type.String(), months: Type.Array(MonthFigures), open: Open }),
      ),
    ),
  }),
);
