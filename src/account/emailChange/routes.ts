import { routes } from '../../platform/http/index.ts';
import { examples } from '../examples.ts';
import { budgetOf } from '../sessions/cookies.ts';
import { EmailChanged, EmailRestored, LinkOnly } from '../signIn/schema.ts';
import { confirmEmailChange, revokeEmailChange } from './follow.ts';

const group = { tag: 'Sign-in', about: 'How people get in by themselves.', examples };
const stranger = { auth: 'public', actor: 'visitor', budget: budgetOf, limit: 'sign-in' } as const;

export const emailChangeRoutes = routes('/auth/email/change', group, (route) => {
  route.post(
    '/confirm',
    {
      ...stranger,
      operation: 'confirmEmailChange',
      summary: 'Confirm the new address of an account',
      description:
        'By the link that was sent to it, within a day. The address before gets a link by which it can be had back for a week.',
      body: LinkOnly,
      data: EmailChanged,
      errors: ['invalid_link', 'conflict'],
    },
    (ctx, req) => confirmEmailChange(ctx, req.body.token),
  );
  route.post(
    '/revoke',
    {
      ...stranger,
      operation: 'revokeEmailChange',
      summary: 'Take the change of an address back',
      description:
        'By the link that was sent to the address before, within a week. All sessions end, the password is good no more, and ' +
        'a mail to that address brings a link to set another one.',
      body: LinkOnly,
      data: EmailRestored,
      errors: ['invalid_link'],
    },
    (ctx, req) => revokeEmailChange(ctx, req.body.token),
  );
});
