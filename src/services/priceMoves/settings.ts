import { Type } from 'typebox';
import { Strict } from '../../platform/http/index.ts';
import { settings } from '../../settings/index.ts';

/** How customers are treated whose prices change. */
export const prices = settings({
  name: 'prices',
  about: 'What customers can rely on when the price of what they have is changed.',
  shape: Strict({
    notice_days: Type.Integer({
      minimum: 1,
      maximum: 365,
      description: 'Days between the mail that tells of a new price and the first day on which it counts',
    }),
  }),
  defaults: { notice_days: 30 },
  example: { notice_days: 30 },
});
