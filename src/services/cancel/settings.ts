import { Type } from 'typebox';
import { Choice, Strict } from '../../platform/http/index.ts';
import { settings } from '../../settings/index.ts';

/** What a customer gets back who cancels. */
export const cancellation = settings({
  name: 'cancellation',
  about: 'What is given back when a customer cancels a service at once.',
  shape: Strict({
    refund: Choice(['none', 'unused'], {
      description: '`unused`: the days that are paid for and have not begun; `none`: what is paid stays paid',
    }),
    refund_to: Choice(['credit', 'original'], {
      description:
        'Where it goes, and what is given back of an order that is refused: to the account credit, or to where it came from, as far as the payment provider can; what came otherwise becomes credit. Consumers in the EU who withdraw have a right to `original`',
    }),
    withdrawal_days: Type.Integer({
      minimum: 0,
      maximum: 365,
      description: 'Days after the order in which it can be withdrawn from; 0: none',
    }),
    withdrawal_refund: Choice(['full', 'unused'], {
      description:
        'What a withdrawal gives back. `unused` needs the consent of the customer in the countries of the EU',
    }),
    withdrawal_for: Choice(['consumers', 'everyone'], {
      description: 'Whose right it is; who was a consumer says the invoice of the order',
    }),
  }),
  defaults: {
    refund: 'none',
    refund_to: 'original',
    withdrawal_days: 14,
    withdrawal_refund: 'full',
    withdrawal_for: 'consumers',
  },
  example: {
    refund: 'unused',
    refund_to: 'original',
    withdrawal_days: 14,
    withdrawal_refund: 'full',
    withdrawal_for: 'consumers',
  },
});
