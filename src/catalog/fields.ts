import { Type } from 'typebox';

/** A line of text that says something. */
export const Line = (maxLength: number, example: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '\\S',
    'x-message': 'must not be blank',
    examples: [example],
  });

/** Where something stands in a list. */
export const Place = Type.Integer({
  minimum: 0,
  maximum: 999_999,
  description: 'Lower ones come first; a new one stands last unless it says otherwise',
});
