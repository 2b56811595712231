import { Type } from 'typebox';

/**
 * An address that an account can have. Plain ASCII: letters of other scripts look alike, and two people must never be
 * one to whoever reads their addresses. Domains of other scripts have an ASCII form, `xn--…`.
 */
export const EmailAddress = Type.String({
  maxLength: 254,
  pattern:
    "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])$",
  'x-message':
    'must be an e-mail address such as ada@example.com, in ASCII (domains of other scripts as xn--…)',
  examples: ['ada@example.com'],
});
