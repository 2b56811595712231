/** Each operation's example, sent to a running product in the order of one story, and its answer held to the schema. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allRoutes } from '../../src/api.ts';
import { type Example, exampleIds, listRoutes } from '../../src/platform/http/index.ts';
import type { Problem } from '../../src/platform/http/problem.ts';
import { responseCheck } from '../../src/platform/http/responses.ts';
import { validatorFor } from '../../src/platform/http/validate.ts';
import { watchChanges } from '../noted.ts';
import { startTestProduct, type TestProduct } from '../product.ts';
import { cannotBeSent, changedElsewhere, changeNothing, story } from './story.ts';
import { type Teller, teller } from './tell.ts';

const routes = listRoutes(allRoutes);
const byName = new Map(routes.map((route) => [route.operation, route]));

describe('every operation', () => {
  it('has an example and a place in the story', () => {
    expect(routes.filter((route) => route.example === undefined).map((route) => route.operation)).toEqual([]);
    const told = [...story, ...Object.keys(cannotBeSent)];
    const inStory = 'each operation (-) is told in test/description/story.ts (+)';
    expect(told.toSorted(), inStory).toEqual(routes.map((route) => route.operation).toSorted());
  });

  it.each(routes.map((route) => [route.operation, route] as const))('%s has a valid example', (_, route) => {
    const example: Example = route.example ?? { data: null };
    const { params = {}, query = {}, body = {}, data, beside } = example;
    const problems: Problem[] = [];
    validatorFor('params', route.params)(structuredClone(params), 0, problems);
    validatorFor('query', route.query)(structuredClone(query), 0, problems);
    validatorFor('body', route.body)(structuredClone(body), 0, problems);
    expect(problems).toEqual([]);
    responseCheck(route).success({ success: true, data, ...beside });
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
  let told: Teller;
  beforeAll(async () => {
    product = await startTestProduct();
    told = teller(product, [[exampleIds.organization, product.demo.customer.organization_id]]);
  });
  afterAll(() => product.stop());

  it.each(story)('%s can be sent as it stands', async (operation) => {
    if (operation === 'receiveBankTransfer') await orderAgain();
    const { answer, said, produces } = await told.send(operation);
    if (produces !== null) {
      expect(answer.headers.get('content-type'), said).toContain(produces);
      return;
    }
    expect(answer, said).toMatchObject({ status: 200, body: { success: true } });
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
    told.realIds.set(exampleIds.secondInvoice, order.body.data.invoice_id);
  }
});
