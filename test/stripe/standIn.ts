import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Account, type Means } from './account.ts';
import { Deliveries } from './deliveries.ts';
import { idFor } from './objects.ts';
import { invalid, Refusal } from './refusal.ts';
import { endpoints, readAsked } from './routes.ts';

/**
 * What goes wrong with a request. Before it is looked at: `error` is a 500, `limited` a 429, `refused` a 400 for good, `gone` a connection that
 * breaks. After the work is done: `silent` never answers, `lost` breaks the connection, `failed` answers 500, `garbage`
 * answers with a page of somebody else's.
 */
export type Fault = 'error' | 'limited' | 'refused' | 'gone' | 'silent' | 'lost' | 'failed' | 'garbage';

/** A small Stripe: over HTTP, with state, pages to click through, and signed events. */
export interface StripeStandIn {
  url: string;
  secretKey: string;
  webhookSecret: string;
  account: Account;
  events: Deliveries;
  /** Requests so far: `POST /v1/refunds`. */
  asked: string[];
  /** Versions of the API that requests named. */
  versions: Set<string>;
  /** Has the next requests go wrong whose `POST /v1/…` matches. */
  fail(on: RegExp, fault: Fault, times?: number): void;
  /** Another key of the same account's, which is in earnest: nothing of what was made in test mode is there. */
  liveKey: string;
  /** Whether the key is one of another account, where nothing of this one is. */
  isOfAnother(is: boolean): void;
  /** Faults that are left go away. */
  heal(): void;
  /** Has something happen once the work of the next such request is done, before it is answered. */
  meanwhile(on: RegExp, happens: () => Promise<void>): void;
  /** Fills in a page as its customer. Gives where they are sent then, or what the page says instead. */
  click(page: string, means?: Partial<Means>): Promise<{ location: string | null; says: string }>;
  close(): Promise<void>;
}

interface Answer {
  status: number;
  body: string;
}

/** Starts one. */
export async function startStripe(): Promise<StripeStandIn> {
  const secretKey = idFor('sk_test');
  const liveKey = idFor('sk_live');
  const webhookSecret = idFor('whsec');
  const account: Account = new Account((type, object) => events.tell(type, object));
  const another: Account = new Account(() => undefined);
  const live: Account = new Account(() => undefined);
  let asks = account;
  const events = new Deliveries(account.objects, webhookSecret);
  const faults: { on: RegExp; fault: Fault; left: number }[] = [];
  const interludes: { on: RegExp; happens: () => Promise<void> }[] = [];
  const asked: string[] = [];
  const versions = new Set<string>();
  const kept = new Map<string, { of: string; answer: Answer }>();
  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => {
      console.error('the stand-in for Stripe failed', error);
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '/', url);
    const sent = await text(request);
    if (pathname.startsWith('/c/pay/')) return showPage(pathname, request.method ?? '', sent, response);
    const name = `${request.method} ${pathname}`;
    asked.push(name);
    versions.add(String(request.headers['stripe-version']));
    const fault = nextFault(name);
    if (fault === 'gone') return void request.socket.destroy();
    if (fault === 'error') return send(response, broken);
    if (fault === 'limited') return send(response, limited);
    if (fault === 'refused') return send(response, refused);
    const answer = answerOnce(request, pathname, request.method === 'GET' ? search.slice(1) : sent);
    const interlude = interludes.findIndex(({ on }) => on.test(name));
    if (interlude >= 0) await interludes.splice(interlude, 1)[0]?.happens();
    if (fault === 'silent') return;
    if (fault === 'lost') return void request.socket.destroy();
    if (fault === 'failed') return send(response, broken);
    if (fault === 'garbage') return void response.writeHead(200).end('<html>It works!</html>');
    send(response, answer);
  }

  function nextFault(name: string): Fault | null {
    const found = faults.find(({ on, left }) => left > 0 && on.test(name));
    if (found === undefined) return null;
    found.left -= 1;
    return found.fault;
  }

  /** With an Idempotency-Key: the answer of the first time. What was refused before anything began is not kept. */
  function answerOnce(request: IncomingMessage, path: string, sent: string): Answer {
    const key = request.headers['idempotency-key'];
    const given = request.headers.authorization;
    if (given !== `Bearer ${secretKey}` && given !== `Bearer ${liveKey}`) return refusal(unauthorized);
    if (typeof key !== 'string') return answerNow(request, path, sent);
    const of = `${path} ${sent}`;
    const before = kept.get(key);
    if (before !== undefined) return before.of === of ? before.answer : refusal(reused);
    const answer = answerNow(request, path, sent);
    if (answer.status === 200 || answer.status === 402 || answer.status >= 500) kept.set(key, { of, answer });
    return answer;
  }

  function answerNow(request: IncomingMessage, path: string, sent: string): Answer {
    try {
      for (const endpoint of endpoints) {
        const pattern = new RegExp(`^${endpoint.path.replace(':id', '(?<id>[\\w]+)')}$`);
        const match = endpoint.method === request.method ? pattern.exec(path) : null;
        if (match === null) continue;
        const account = request.headers.authorization === `Bearer ${liveKey}` ? live : asks;
        const answer = endpoint.answer(account, readAsked(endpoint, match.groups?.id ?? '', sent, url));
        return { status: 200, body: JSON.stringify(answer) };
      }
      throw invalid(`Unrecognized request URL (${request.method}: ${path}).`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const isLive = request.headers.authorization === `Bearer ${liveKey}`;
      return refusal(isLive ? saysWhereItIs(error) : error);
    }
  }

  /** As Stripe does of what was made in test mode of the same account. */
  function saysWhereItIs(refused: Refusal): Refusal {
    const id = /'(\w+)'/.exec(refused.message)?.[1] ?? '';
    if (refused.error.code !== 'resource_missing' || asks !== account || !account.objects.has(id))
      return refused;
    const message = `${refused.message}; a similar object exists in test mode, but a live mode key was used to make this request.`;
    return new Refusal(refused.status, { ...refused.error, type: 'invalid_request_error', message });
  }

  /** The page that the customer sees: a form, and what came of it. */
  function showPage(path: string, method: string, sent: string, response: ServerResponse): void {
    const id = path.slice('/c/pay/'.length);
    const html = (status: number, says: string) =>
      response
        .writeHead(status, { 'content-type': 'text/html' })
        .end(`<p>${says}</p><form method="post"></form>`);
    try {
      if (method !== 'POST') return void html(200, account.require(id, 'checkout.session').status);
      const form = new URLSearchParams(sent);
      const means = { number: form.get('number') ?? '', authenticates: form.get('authenticates') === 'true' };
      const session = account.finishSession(id, means);
      const location = session.success_url.replace('{CHECKOUT_SESSION_ID}', id);
      response.writeHead(303, { location }).end();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      html(error.status, error.message);
    }
  }

  return {
    ...{ url, secretKey, liveKey, webhookSecret, account, events, asked, versions },
    fail(on, fault, times = 1) {
      faults.push({ on, fault, left: times });
    },
    isOfAnother(is) {
      asks = is ? another : account;
    },
    heal() {
      faults.length = 0;
    },
    meanwhile(on, happens) {
      interludes.push({ on, happens });
    },
    async click(page, { number = '4242424242424242', authenticates = true } = {}) {
      const body = new URLSearchParams({ number, authenticates: String(authenticates) });
      const answer = await fetch(page, { method: 'POST', body, redirect: 'manual' });
      const says = (await answer.text()).replace(/<[^>]*>/g, '');
      return { location: answer.headers.get('location'), says };
    },
    async close() {
      events.sendTo(null);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': idFor('req') }).end(body);
}

function refusal({ status, error }: Refusal): Answer {
  return { status, body: JSON.stringify({ error }) };
}

const broken = refusal(new Refusal(500, { type: 'api_error', message: 'An unknown error occurred' }));
const refused = refusal(invalid('The mandate of this payment method is not active.'));
const limited = refusal(
  new Refusal(429, {
    type: 'invalid_request_error',
    code: 'rate_limit',
    message: 'Request rate limit exceeded',
  }),
);
const unauthorized = new Refusal(401, { type: 'invalid_request_error', message: 'Invalid API Key provided' });
const reused = new Refusal(400, {
  type: 'idempotency_error',
  message:
    'Keys for idempotent requests can only be used with the same parameters they were first used with.',
});
