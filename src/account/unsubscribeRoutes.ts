import { Type } from 'typebox';
import { Raw, routes, Strict } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { askUnsubscription, unsubscribe } from './unsubscribe.ts';

const group = { tag: 'Mails', about: 'How people get no more mails of a kind.', examples };

const query = Strict({
  token: Type.String({ minLength: 1, maxLength: 200, description: 'As the mail has it' }),
});

export const unsubscribeRoutes = routes('/mail', group, (route) => {
  route.get(
    '/unsubscribe',
    {
      auth: 'public',
      operation: 'openUnsubscribePage',
      summary: 'Open the page that unsubscribes',
      description: 'What the link in a mail opens: a page with one button. Opening it changes nothing.',
      query,
      produces: 'text/html; charset=utf-8',
      errors: ['invalid_link', 'not_found'],
    },
    (ctx, req) => askUnsubscription(ctx, req.query.token),
  );
  route.post(
    '/unsubscribe',
    {
      auth: 'public',
      actor: 'visitor',
      operation: 'unsubscribe',
      summary: 'Unsubscribe',
      description:
        'By the link in a mail, with one click and without signing in (RFC 8058): from then on its reader gets no more ' +
        'mails of that kind. The account’s preferences show it, and there it is switched on again. Mails that everybody ' +
        'has to have, such as invoices and what is about the safety of an account, have no such link.',
      query,
      body: Raw(['application/x-www-form-urlencoded', 'multipart/form-data']),
      produces: 'text/html; charset=utf-8',
      errors: ['invalid_link', 'not_found'],
    },
    (ctx, req) => unsubscribe(ctx, req.query.token),
  );
});
