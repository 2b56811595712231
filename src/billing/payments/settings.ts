import { Type } from 'typebox';
import { Strict } from '../../platform/http/index.ts';
import { settings } from '../../settings/index.ts';

/** How what is due is paid while its customer is away. */
export const payments = settings({
  name: 'payments',
  about: 'How what is due is paid while its customer is away.',
  shape: Strict({
    credit_first: Type.Boolean({
      description:
        'On its day a renewal is paid from account credit, as far as that reaches, and the rest from the saved payment method',
    }),
  }),
  defaults: { credit_first: true },
  example: { credit_first: true },
});
