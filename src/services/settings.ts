import { type Static, Type } from 'typebox';
import { CurrencyCode, Nullable, Strict } from '../platform/http/index.ts';
import { parseMoney } from '../platform/index.ts';
import { settings } from '../settings/index.ts';

const Days = (description: string, maximum = 365) => Type.Integer({ minimum: 0, maximum, description });
const Currency = CurrencyCode({ examples: ['EUR'] });
const MaybeDays = (description: string) =>
  Nullable(Type.Integer({ minimum: 1, maximum: 365, description: `${description}; null: never` }));

const shape = Strict({
  invoice_days_before: Days('The renewal invoice is issued so many days before the paid time ends', 60),
  reminder_days_before: Nullable(
    Type.Integer({
      minimum: 0,
      maximum: 60,
      description: 'A reminder goes out so many days before it is due; null: none',
    }),
  ),
  charge_days_before: Days('A saved payment method is charged so many days before it is due', 60),
  overdue_days_after: Type.Integer({
    minimum: 1,
    maximum: 365,
    description: 'The customer is told that it is overdue so many days after it was due',
  }),
  last_reminder_days_after: MaybeDays('The last reminder'),
  late_fee_days_after: MaybeDays('The late fee, once, on an invoice of its own'),
  late_fee_percent: Type.Integer({ minimum: 0, maximum: 100, description: 'Of what is still due' }),
  late_fee_amounts: Type.Array(
    Strict({ currency: Currency, amount: Type.String({ maxLength: 20, examples: ['5.00'] }) }),
    {
      maxItems: 20,
      description: 'And so much besides, for each currency that has one',
    },
  ),
  suspend_days_after: MaybeDays('The service is suspended'),
  terminate_days_after: MaybeDays('The service is terminated, when it was suspended before'),
  ending_notice_days_before: Type.Integer({
    minimum: 1,
    maximum: 60,
    description: 'Whose service is not renewed by itself is told so many days before it ends',
  }),
});

/** Any part of it. */
export const CalendarChange = Type.Partial(shape);

export type CalendarSettings = Static<typeof shape>;

/** When customers are invoiced, reminded, suspended and terminated. */
export const calendar = settings({
  name: 'calendar',
  about: 'What happens on which day when the paid time of a service ends. Days are UTC',
  shape,
  defaults: {
    invoice_days_before: 14,
    reminder_days_before: 3,
    charge_days_before: 0,
    overdue_days_after: 1,
    last_reminder_days_after: 7,
    late_fee_days_after: null,
    late_fee_percent: 0,
    late_fee_amounts: [],
    suspend_days_after: 14,
    terminate_days_after: 44,
    ending_notice_days_before: 14,
  },
  example: {
    invoice_days_before: 14,
    reminder_days_before: 3,
    charge_days_before: 0,
    overdue_days_after: 1,
    last_reminder_days_after: 7,
    late_fee_days_after: 10,
    late_fee_percent: 0,
    late_fee_amounts: [{ currency: 'EUR', amount: '5.00' }],
    suspend_days_after: 14,
    terminate_days_after: 44,
    ending_notice_days_before: 14,
  },
  check,
});

/** Each step comes after the one before it, and nothing ends that was not suspended first. */
export function check(value: CalendarSettings): { field: string; message: string } | null {
  const {
    reminder_days_before: reminder,
    suspend_days_after: suspend,
    terminate_days_after: terminate,
  } = value;
  if (reminder !== null && reminder >= value.invoice_days_before)
    return { field: 'reminder_days_before', message: 'must be less than invoice_days_before' };
  if (terminate !== null && suspend === null)
    return {
      field: 'terminate_days_after',
      message: 'must be null while suspend_days_after is: nothing ends that was not suspended',
    };
  const wrong = value.late_fee_amounts.findIndex(
    ({ amount, currency }) => parseMoney(amount, currency) === null,
  );
  if (wrong >= 0)
    return {
      field: `late_fee_amounts[${wrong}].amount`,
      message: 'must be amounts in the digits of their currency, such as 5.00',
    };
  const order = [
    'overdue_days_after',
    'last_reminder_days_after',
    'suspend_days_after',
    'terminate_days_after',
  ] as const;
  let before: (typeof order)[number] = 'overdue_days_after';
  for (const field of order.slice(1)) {
    const [day, earlier] = [value[field], value[before]];
    if (day === null) continue;
    if (earlier !== null && day <= earlier) return { field, message: `must be more than ${before}` };
    before = field;
  }
  return null;
}
