/** Each operation's example, sent to a running product in the order of one story, and its answer held to the schema. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allRoutes } from '../../src/api.ts';
import { exampleIds, listRoutes } from '../../src/platform/http/index.ts';
import type { Problem } from '../../src/platform/http/problem.ts';
import { responseCheck } from '../../src/platform/http/responses.ts';
import { compileValidator } from '../../src/platform/http/validate.ts';
import type { Client } from '../client.ts';
import { watchChanges } from '../noted.ts';
import { startTestProduct, type TestProduct, until } from '../product.ts';
import { cannotBeSent, changedElsewhere, changeNothing, story } from './story.ts';

const routes = listRoutes(allRoutes);
/** Smaller numbers in examples are amounts, and ids of what the demonstration always has. */
const firstExampleId = 4_503_599_627_370_000;
/** The short codes of tickets. */
const codes = /^([a-z]\d){4}$/;
const byName = new Map(routes.map((route) => [route.operation, route]));

describe('every operation', () => {
  it('has an example and a place in the story', () => {
    expect(routes.filter((route) => route.example === undefined).map((route) => route.operation)).toEqual([]);
    const told = [...story, ...Object.keys(cannotBeSent)];
    const inStory = 'each operation (-) is told in test/description/story.ts (+)';
    expect(told.toSorted(), inStory).toEqual(routes.map((route) => route.operation).toSorted());
  });

  it.each(routes.map((route) => [route.operation, route] as const))('%s has a valid example', (_, route) => {
    const { params = {}, query = {}, body = {}, data } = route.example ?? { data: null };
    const problems: Problem[] = [];
    compileValidator('params', route.params)(structuredClone(params), 0, problems);
    compileValidator('query', route.query)(structuredClone(query), 0, problems);
    compileValidator('body', route.body)(structuredClone(body), 0, problems);
    expect(problems).toEqual([]);
    responseCheck(route).success({ success: true, data });
  });
});

describe('every change', () => {
  it('is held against the journal, here or by the test that sends it', async () => {
    const elsewhere = Object.entries({ ...cannotBeSent, ...changedElsewhere });
    const changing = new Set(
      routes.filter(({ method }) => method !== 'GET').map(({ operation }) => operation),
    );
    const wanting: string[] = [];
    for (const [operation, why] of elsewhere) {
      if (!changing.has(operation) || operation in changeNothing) continue;
      const text = await readFile(`src/${why.split(': ').at(-1)}`, 'utf8');
      const held = /leaveEntries\(([\s\S]*)\)/.exec(text)?.[1] ?? '';
      if (!held.includes(`'${operation}'`)) wanting.push(`${operation}: ${why}`);
    }
    expect(wanting, 'add it to leaveEntries at the end of that test').toEqual([]);
  });
});

describe('the examples', () => {
  let product: TestProduct;
  const changes = watchChanges();
  /** What the ids of the examples are in this product, learned from its answers. */
  const realIds = new Map<number | string, number | string>();
  beforeAll(async () => {
    product = await startTestProduct();
    realIds.set(exampleIds.organization, product.demo.customer.organization_id);
  });
  afterAll(() => product.stop());

  it.each(story)('%s can be sent as it stands', async (operation) => {
    const route = byName.get(operation);
    const example = route?.example;
    if (!route || !example) throw new Error(`there is no example of ${operation}`);
    if (operation === 'receiveBankTransfer') await orderAgain();
    const { params = {}, query = {}, body } = withRealIds(example) as typeof example;
    const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => String(params[name]));
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const url = search.size > 0 ? `${path}?${search}` : path;
    const send = () => clientFor(route.auth).request(route.method, url, body);
    // What comes before may still be at work on the machine or the image.
    const answer = await until(send, ({ status, body: seen }) => status === 200 || !isEarly(seen.code));
    const said = `${route.method} ${url}: ${JSON.stringify(answer.body)}`;
    if (route.produces !== null) {
      expect(answer.headers.get('content-type'), said).toContain(route.produces);
      return;
    }
    expect(answer, said).toMatchObject({ status: 200, body: { success: true } });
    learn(example.data, answer.body.data);
  });

  it('that change something leave an entry in the journal', async () => {
    const silent = await changes.silent(product);
    const known = [...Object.keys(changeNothing), ...Object.keys(changedElsewhere)];
    expect(silent.filter((name) => !known.includes(name))).toEqual([]);
  });

  /** The story's second order, which is paid by bank transfer. */
  async function orderAgain(): Promise<void> {
    const order = await product.customer.post(
      '/cart/checkout/invoice',
      byName.get('checkout')?.example?.body,
    );
    realIds.set(exampleIds.secondInvoice, order.body.data.invoice_id);
  }

  function clientFor(auth: string): Client {
    if (auth === 'public') return product.nobody;
    return auth === 'staff' ? product.staff : product.customer;
  }

  function isEarly(code: unknown): boolean {
    return ['locked', 'action_not_allowed', 'conflict'].includes(String(code));
  }

  function withRealIds(value: unknown): unknown {
    if (typeof value === 'number' || typeof value === 'string') return realIds.get(value) ?? value;
    if (Array.isArray(value)) return value.map(withRealIds);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withRealIds(inner)]));
  }

  function isId(value: unknown): value is number | string {
    return typeof value === 'number' ? value >= firstExampleId : codes.test(String(value));
  }

  function learn(shown: unknown, real: unknown): void {
    if (isId(shown)) {
      if (typeof real !== 'number' && typeof real !== 'string') return;
      const known = realIds.get(shown) ?? real;
      expect(real, `the examples use ${shown} for two things; give one another id`).toBe(known);
      realIds.set(shown, real);
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
});
