/** Which operations of the API have a place in the dashboard, and why others have none. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ourDescription } from '../client/description.ts';

/**
 * Operations without a place, each with the reason; the list gets shorter. What has a place leaves it.
 */
const without: Readonly<Record<string, string>> = {
  ...reason('a list or the page around it says the same', [
    ...['getSshKey', 'getApiKey', 'getSession', 'getPasskey', 'getInvitation'],
    ...['getOrganizationMember', 'getPaymentMethod', 'getSnapshot', 'getVpsAction'],
    'getDedicatedAction',
    ...['getPaymentPromise', 'listPasskeys'],
    ...['getStaffKey', 'getOrder', 'getRefund', 'getDispute', 'getTaxRate'],
    ...['getCreditReturn', 'getPromiseOfService'],
    ...['getPromiseOfOrganization', 'getPriceMove', 'listShieldRules', 'getShieldGroup'],
  ]),
  ...reason('mails, browsers and payment providers call it, no page', [
    ...['openUnsubscribePage', 'unsubscribe', 'openPaymentPage', 'receivePaymentEvent', 'getBrandPicture'],
  ]),
  ...reason('whoever was given a proof of erasure calls it, without an account', ['listErasureKeys']),
  ...reason('clients that other companies wrote call it, no page', [
    ...['getShieldToken', 'enableShieldRuleByPost', 'disableShieldRuleByPost'],
  ]),
};

function reason(why: string, operations: readonly string[]): Record<string, string> {
  return Object.fromEntries(operations.map((operation) => [operation, why]));
}

const root = path.join(import.meta.dirname, 'src');
const source = globSync('**/*.{ts,tsx}', { cwd: root })
  .map((file) => readFileSync(path.join(root, file), 'utf8'))
  .join('\n');

/** Every call that stands in the pages: the method, and the path as a pattern where a part of it is chosen at run time. */
const calls = [
  ...[
    ...source.matchAll(/client\s*\.(get|post|patch|put|delete|file|upload|all)\(\s*['"`](\/[^'"`]*)['"`]/g),
  ].map(([, method = '', where = '']) => ({
    method: ({ file: 'get', all: 'get', upload: 'post' } as Record<string, string>)[method] ?? method,
    where,
  })),
  ...[...source.matchAll(/client\s*\.whole\(\s*['"`]([a-z]+)['"`],\s*['"`](\/[^'"`]*)['"`]/g)].map(
    ([, method = '', where = '']) => ({ method, where }),
  ),
  ...[...source.matchAll(/(?:staff(?:List|Thing)|drawnOf)\(\s*'(\/[^']*)'/g)].map(([, where = '']) => ({
    method: 'get',
    where,
  })),
  ...[...source.matchAll(/(?:EventSource|fetch)\(\s*['"`]\/api(\/[^?'"`]*)/g)].map(([, where = '']) => ({
    ...{ method: 'get', where },
  })),
].map(({ method, where }) => ({
  method,
  pattern: new RegExp(
    `^${where
      .split(/\$\{[^}]*\}/)
      .map(escaped)
      .join('[a-z-]+')}$`,
  ),
}));

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

const operations = Object.entries(
  ourDescription().paths as Record<string, Record<string, { operationId: string }>>,
).flatMap(([where, methods]) =>
  Object.entries(methods).map(([method, { operationId: name }]) => ({
    ...{ name, where },
    hasPlace: calls.some((call) => call.method === method && call.pattern.test(where)),
  })),
);

it('has a place for every operation of the API, but those whose reason stands here', () => {
  expect(calls.length).toBeGreaterThan(150);
  expect(operations.filter(({ name, hasPlace }) => !hasPlace && without[name] === undefined)).toEqual([]);
});

it('gives no reason for what has a place, nor for what there is not', () => {
  const placed = new Map(operations.map(({ name, hasPlace }) => [name, hasPlace]));
  expect(Object.keys(without).filter((name) => placed.get(name) !== false)).toEqual([]);
});

it('counts no query as a place that no page reads', () => {
  const named = [...source.matchAll(/^export const (\w+) = (?:staff(?:List|Thing)|drawnOf)\(/gm)];
  expect(named.length).toBeGreaterThan(30);
  const unread = named.map(([, name = '']) => name).filter((name) => timesNamed(name) < 2);
  expect(unread).toEqual([]);
});

function timesNamed(name: string): number {
  return [...source.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length;
}
