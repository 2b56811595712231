import { Type } from 'typebox';
import { Strict } from '../../platform/http/index.ts';

export const PageParams = Strict({
  page: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'As it stands in the link',
    examples: ['charge-4503599627370720.C2vYb0xkz1l6W7m1cDqv4nq3m0pU3tJb1l2yqv0QJ5k'],
  }),
});

export const DriverParams = Strict({
  driver: Type.String({
    minLength: 1,
    maxLength: 40,
    description: 'The payment provider',
    examples: ['stripe'],
  }),
});
