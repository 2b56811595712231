import { allRoutes } from '../../src/api.ts';
import { listRoutes } from '../../src/platform/http/index.ts';
import { smallExampleIds } from '../../src/shield/examples.ts';
import type { Client, Response } from '../client.ts';
import { type TestProduct, until } from '../product.ts';

const routes = listRoutes(allRoutes);
/** Smaller numbers in examples are amounts, and ids of what the demonstration always has. */
const firstExampleId = 4_503_599_627_370_000;
/** Those of Shield have fewer bits. */
const smallIds = new Set<number>(Object.values(smallExampleIds));
/** The address of the story's machine, with which Shield's examples begin. */
const storysAddress = '203.0.113.10';
/** The short codes of tickets. */
const codes = /^([a-z]\d){4}$/;
const byName = new Map(routes.map((route) => [route.operation, route]));

/** Sends examples to a product, one after another. */
export interface Teller {
  /** What the ids of the examples are in this product, learned from its answers. */
  realIds: Map<number | string, number | string>;
  /** Sends the example of an operation once what is still at work lets it. */
  send(operation: string): Promise<{ answer: Response; said: string; produces: string | null }>;
}

export function teller(product: TestProduct, known: Iterable<[number, number]>): Teller {
  const realIds = new Map<number | string, number | string>(known);

  function clientFor(auth: string): Client {
    if (auth === 'public') return product.nobody;
    return auth === 'staff' ? product.staff : product.customer;
  }

  function withRealIds(value: unknown): unknown {
    if (typeof value === 'number' || typeof value === 'string') return realIds.get(value) ?? value;
    if (Array.isArray(value)) return value.map(withRealIds);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withRealIds(inner)]));
  }

  function learn(shown: unknown, real: unknown): void {
    if (isId(shown)) {
      if (typeof real !== 'number' && typeof real !== 'string') return;
      const before = realIds.get(shown) ?? real;
      if (before !== real)
        throw new Error(
          `the examples use ${shown} for two things, ${before} and ${real}; give one another id`,
        );
      realIds.set(shown, real);
      if (shown === `${storysAddress}/32`) realIds.set(storysAddress, String(real).replace('/32', ''));
    } else if (Array.isArray(shown) && Array.isArray(real)) {
      // A list may hold more by now than the example shows, and ids have no order.
      shown.forEach((inner, nth) => {
        learn(inner, real.find((each) => isKnownAs(inner, each)) ?? real[nth]);
      });
    } else if (typeof shown === 'object' && shown !== null && typeof real === 'object' && real !== null) {
      for (const [key, inner] of Object.entries(shown)) learn(inner, (real as Record<string, unknown>)[key]);
    }
  }

  /** Whether it is what an example showed before, by the first id in it. */
  function isKnownAs(shown: unknown, real: unknown): boolean {
    if (isId(shown)) return realIds.has(shown) && realIds.get(shown) === real;
    if (typeof shown !== 'object' || shown === null || typeof real !== 'object' || real === null)
      return false;
    const [key, inner] = Object.entries(shown)[0] ?? [];
    return key !== undefined && isKnownAs(inner, (real as Record<string, unknown>)[key]);
  }

  return {
    realIds,
    async send(operation) {
      const route = byName.get(operation);
      const example = route?.example;
      if (!route || !example) throw new Error(`there is no example of ${operation}`);
      const { params = {}, query = {}, body } = withRealIds(example) as typeof example;
      const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => String(params[name]));
      const search = new URLSearchParams(
        Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
      );
      const url = search.size > 0 ? `${path}?${search}` : path;
      // What comes before may still be at work on the machine or the image.
      const answer = await until(
        () => clientFor(route.auth).request(route.method, url, body),
        ({ status, body: seen }) => status === 200 || !isEarly(seen.code),
      );
      if (route.produces === null && answer.status === 200) learn(example.data, answer.body.data);
      const said = `${route.method} ${url}: ${JSON.stringify(answer.body)}`;
      return { answer, said, produces: route.produces };
    },
  };
}

function isEarly(code: unknown): boolean {
  return ['locked', 'action_not_allowed', 'conflict'].includes(String(code));
}

function isId(value: unknown): value is number | string {
  if (typeof value === 'number') return value >= firstExampleId || smallIds.has(value);
  return value === `${storysAddress}/32` || codes.test(String(value));
}
