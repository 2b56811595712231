import type { Account } from './account.ts';
import { type Form, formOf, listOf, parseForm, textOf, textsOf } from './form.ts';
import type { StripeObject } from './objects.ts';
import { invalid } from './refusal.ts';

/** What one request may say, and what comes of it. */
export interface Endpoint {
  method: 'GET' | 'POST' | 'DELETE';
  /** With `:id` for an id. */
  path: string;
  /** The names of its parameters; others are refused, as Stripe does. */
  takes: readonly string[];
  answer: (account: Account, asked: Asked) => unknown;
}

interface Asked {
  id: string;
  form: Form;
  expand: string[];
  /** Where this server is reached. */
  base: string;
}

const get = (path: string, answer: Endpoint['answer'], takes: readonly string[] = []): Endpoint => ({
  ...{ method: 'GET', path, takes, answer },
});
const post = (path: string, answer: Endpoint['answer'], takes: readonly string[] = []): Endpoint => ({
  ...{ method: 'POST', path, takes, answer },
});

/** `GET /v1/things/:id` */
function reading(path: string, object: string): Endpoint {
  return get(`${path}/:id`, (account, { id, expand }) =>
    account.objects.show(account.require(id, object), expand),
  );
}

/** `GET /v1/things`, the newest first. */
function listing(path: string, object: string, filters: readonly string[]): Endpoint {
  return get(
    path,
    (account, { form, expand }) => {
      const asked = Object.fromEntries(filters.map((name) => [name, textOf(form, name)]));
      const since = Number(textOf(formOf(form, 'created'), 'gte') ?? 0);
      const types = listOf(form, 'types');
      const all = account.objects.every(object).toReversed();
      const fitting = all.filter(
        (each) =>
          filters.every((name) => asked[name] === null || each[name] === asked[name]) &&
          each.created >= since &&
          (types.length === 0 || types.includes(each.type)),
      );
      return page(fitting, form, (each) =>
        account.objects.show(
          each,
          expand.map((field) => field.replace(/^data\./, '')),
        ),
      );
    },
    [...filters, 'created', 'types', 'limit', 'starting_after'],
  );
}

function page(all: StripeObject[], form: Form, show: (each: StripeObject) => unknown) {
  const limit = Number(textOf(form, 'limit') ?? 10);
  const after = textOf(form, 'starting_after');
  const begin = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const data = all.slice(begin, begin + limit);
  return { object: 'list', data: data.map(show), has_more: begin + limit < all.length, url: '/' };
}

/** The part of Stripe's API that Innkeeper speaks. Source: https://docs.stripe.com/api */
export const endpoints: Endpoint[] = [
  post(
    '/v1/customers',
    (account, { form }) =>
      account.objects.show(
        account.makeCustomer({
          name: textOf(form, 'name'),
          email: textOf(form, 'email'),
          metadata: textsOf(form, 'metadata'),
        }),
      ),
    ['name', 'email', 'metadata'],
  ),
  reading('/v1/customers', 'customer'),
  {
    ...{ method: 'DELETE', path: '/v1/customers/:id', takes: [] },
    answer: (account, { id }) => account.deleteCustomer(id),
  },

  reading('/v1/payment_methods', 'payment_method'),
  post(
    '/v1/payment_methods/:id/attach',
    (account, { id, form }) => account.objects.show(account.attach(id, required(form, 'customer'))),
    ['customer'],
  ),
  post('/v1/payment_methods/:id/detach', (account, { id }) => account.objects.show(account.detach(id))),

  post('/v1/payment_intents', (account, { form }) => account.objects.show(makeIntent(account, form)), [
    ...[
      'amount',
      'currency',
      'customer',
      'payment_method',
      'description',
      'metadata',
      'automatic_payment_methods',
    ],
  ]),
  reading('/v1/payment_intents', 'payment_intent'),
  listing('/v1/payment_intents', 'payment_intent', ['customer']),
  post(
    '/v1/payment_intents/:id/confirm',
    (account, { id, form, expand }) => {
      const offSession = textOf(form, 'off_session') === 'true';
      return account.objects.show(account.confirm(id, { offSession, authenticates: false }), expand);
    },
    ['off_session'],
  ),

  post('/v1/checkout/sessions', openSession, [
    ...['mode', 'customer', 'currency', 'client_reference_id', 'metadata', 'success_url', 'cancel_url'],
    ...['line_items', 'payment_intent_data'],
  ]),
  reading('/v1/checkout/sessions', 'checkout.session'),
  post('/v1/checkout/sessions/:id/expire', (account, { id }) =>
    account.objects.show(account.expireSession(id)),
  ),

  post(
    '/v1/refunds',
    (account, { form }) => {
      const amount = textOf(form, 'amount');
      const metadata = textsOf(form, 'metadata');
      const refund = account.refund(
        required(form, 'payment_intent'),
        amount === null ? null : Number(amount),
        metadata,
      );
      return account.objects.show(refund);
    },
    ['payment_intent', 'amount', 'metadata'],
  ),
  listing('/v1/refunds', 'refund', ['payment_intent']),
  listing('/v1/disputes', 'dispute', ['payment_intent']),
  reading('/v1/disputes', 'dispute'),
  reading('/v1/payouts', 'payout'),
  listing('/v1/events', 'event', []),
];

function required(form: Form, name: string): string {
  const text = textOf(form, name);
  if (text !== null) return text;
  throw invalid(`Missing required param: ${name}.`, { code: 'parameter_missing', param: name });
}

function makeIntent(account: Account, form: Form): StripeObject {
  return account.makeIntent({
    amount: Number(required(form, 'amount')),
    currency: required(form, 'currency'),
    customer: textOf(form, 'customer'),
    payment_method: textOf(form, 'payment_method'),
    description: textOf(form, 'description'),
    metadata: textsOf(form, 'metadata'),
  });
}

function openSession(account: Account, { form, base }: Asked): StripeObject {
  const mode = required(form, 'mode');
  const item = formOf(formOf(form, 'line_items'), '0');
  const price = formOf(item, 'price_data');
  const data = formOf(form, 'payment_intent_data');
  if (mode === 'payment') required(item, 'quantity');
  const session = account.openSession({
    mode,
    customer: textOf(form, 'customer'),
    currency: mode === 'payment' ? required(price, 'currency') : textOf(form, 'currency'),
    amount:
      mode === 'payment' ? Number(required(price, 'unit_amount')) * Number(textOf(item, 'quantity')) : null,
    client_reference_id: textOf(form, 'client_reference_id'),
    metadata: textsOf(form, 'metadata'),
    success_url: required(form, 'success_url'),
    cancel_url: textOf(form, 'cancel_url'),
    intentFields: { description: textOf(data, 'description'), metadata: textsOf(data, 'metadata') },
  });
  session.url = `${base}/c/pay/${session.id}`;
  return account.objects.show(session);
}

/** What a request asks for; refuses parameters that the endpoint does not have. */
export function readAsked(endpoint: Endpoint, id: string, text: string, base: string): Asked {
  const form = parseForm(text);
  for (const name of Object.keys(form)) {
    if (name === 'expand' || endpoint.takes.includes(name)) continue;
    throw invalid(`Received unknown parameter: ${name}`, { code: 'parameter_unknown', param: name });
  }
  return { id, form, expand: listOf(form, 'expand'), base };
}
