/** What forms know of requests before they are sent: as much as the API would say, and never more. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import i18next from 'i18next';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ourFields } from '../client/description.ts';
import { allRoutes } from '../src/api.ts';
import { requireAmount } from '../src/billing/amount.ts';
import { listRoutes, type RequestField } from '../src/platform/http/index.ts';
import { AppError, type Context, wrongWithDomain } from '../src/platform/index.ts';
import { requireStrong } from '../src/vps/access/identity.ts';
import { checkUrl } from '../src/webhooks/target.ts';
import { startTestProduct, type TestProduct } from '../test/product.ts';
import { fieldOf, mistakeIn } from './src/data/fields.ts';
import { sayDetail } from './src/text/details.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const fields = ourFields();
const routes = new Map(listRoutes(allRoutes).map((route) => [route.operation, route]));

/** Texts that are out of the bounds of a field. */
function wrongFor({ isNumber, minLength = 0, maxLength, minimum, maximum, pattern }: RequestField): string[] {
  if (isNumber !== undefined)
    return [minimum, maximum].flatMap((bound, nth) =>
      bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? [] : [String(bound + nth * 2 - 1)],
    );
  const long = maxLength === undefined || maxLength > 1_000 ? [] : ['x'.repeat(maxLength + 1)];
  return [...long, ...(minLength > 1 ? ['x'.repeat(minLength - 1)] : []), ...(pattern ? ['\u0001'] : [])];
}

it('says of what was typed what the API says of it', { timeout: 180_000 }, async () => {
  const differing: string[] = [];
  let compared = 0;
  for (const [operation, request] of fields) {
    const route = routes.get(operation);
    if (route === undefined) continue;
    const caller = route.auth === 'staff' ? product.staff : product.customer;
    const where = route.path.replaceAll(/:(\w+)/g, '1');
    // Inside other things a body has to be whole.
    const plain = Object.entries(request).filter(([name]) => !/[.[]/.test(name));
    for (const nth of [0, 1, 2]) {
      const wrong = plain.flatMap(([name, field]) => {
        const text = wrongFor(field)[nth];
        const mistake = text === undefined ? null : mistakeIn(text, field);
        // What only the API's rules forbid, it says by itself.
        return text === undefined || mistake === null ? [] : [{ name, field, text, mistake }];
      });
      if (wrong.length === 0) continue;
      const sent = wrong.map(({ name, field, text }) => [name, field.isNumber ? Number(text) : text]);
      const { body } = await caller.request(route.method, where, Object.fromEntries(sent));
      for (const { name, mistake } of wrong) {
        const said = body?.details?.find(({ field }: { field: string }) => field === name)?.message;
        // Some are refused before anybody looks at what they say.
        if (said === undefined) continue;
        compared += 1;
        if (mistake !== said) differing.push(`${operation} ${name}: ${mistake}, but ${said}`);
      }
    }
  }
  expect(differing).toEqual([]);
  expect(compared).toBeGreaterThan(80);
});

/** Everything in a body that is a text or a number, as details of errors name it. */
function leaves(value: unknown, name = ''): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((each, nth) => leaves(each, `${name}[${nth}]`));
  if (typeof value === 'string' || typeof value === 'number') return [[name, String(value)]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([part, of]) => leaves(of, name === '' ? part : `${name}.${part}`));
}

it('refuses nothing that the API takes: the examples of all requests, blanks around them, any script', () => {
  const refused: string[] = [];
  let looked = 0;
  for (const [operation, request] of fields)
    for (const [name, text] of leaves(routes.get(operation)?.example?.body)) {
      const field = fieldOf(request, name);
      if (field === undefined) continue;
      looked += 1;
      for (const typed of [text, ` ${text} `])
        if (mistakeIn(typed, field) !== null) refused.push(`${operation} ${name}: ${typed}`);
    }
  expect(refused).toEqual([]);
  expect(looked).toBeGreaterThan(100);
  const subject = fields.get('createTicket')?.subject;
  if (subject === undefined) throw new Error('a ticket has a subject');
  // A sign is one, however many places browsers count it as.
  expect(mistakeIn('😀'.repeat(255), subject)).toBeNull();
  expect(mistakeIn('😀'.repeat(256), subject)).toBe('must have at most 255 characters');
  expect(mistakeIn('Größe 変更', subject)).toBeNull();
});

it('says all of it in both languages', async () => {
  const t = await i18next.createInstance().init({ resources: {}, lng: 'cimode' });
  const said = [...fields.values()].flatMap((request) =>
    Object.values(request).flatMap((field) => wrongFor(field).map((text) => mistakeIn(text, field) ?? '')),
  );
  // What nobody types: what a browser or the product makes.
  const made = /^must be base64|^must be the name of a picture/;
  const unsaid = new Set(
    said.filter((message) => message !== '' && !made.test(message) && sayDetail(t, message) === null),
  );
  expect([...unsaid]).toEqual([]);
});

it('says in both languages what is only found out by asking', async () => {
  const t = await i18next.createInstance().init({ resources: {}, lng: 'cimode' });
  const ctx = { config: { webhookAllow: [] } } as unknown as Context;
  const names = [
    'a b',
    '.a.example',
    '-a.example',
    `${'a'.repeat(64)}.example`,
    'localhost',
    'a.'.repeat(127),
  ];
  const urls = [
    ...['ftp://a.example/', 'https://u:p@a.example/', 'https://localhost/', 'https://a.localhost/'],
    ...['https://127.0.0.1/', 'http://a.example/', 'https://a.example:99/', 'https://0x7f000001/'],
  ];
  const domains = names.map((name) => wrongWithDomain(name, { atLeast: 2 }) ?? '');
  const hooks = urls.flatMap((url) => detailsOf(() => checkUrl(ctx, url)));
  const amounts = detailsOf(() => requireAmount('12,50', 'EUR'));
  const passwords = detailsOf(() => requireStrong('weak'));
  const said = [...domains, ...hooks, ...amounts, ...passwords];
  expect(said).toHaveLength(names.length + urls.length + 2);
  expect(said.filter((message) => sayDetail(t, message) === null)).toEqual([]);
  // What is an address to one is none to another.
  expect(sayDetail(t, 'must be an address such as 192.0.2.1, or a network such as 192.0.2.0/24')).toMatch(
    /range$/,
  );
  expect(sayDetail(t, 'must be an address such as https://example.com/imprint')).toMatch(/link$/);
});

function detailsOf(refused: () => void): string[] {
  try {
    refused();
  } catch (error) {
    if (error instanceof AppError) return (error.details ?? []).map(({ message }) => message);
    throw error;
  }
  return [];
}

it('is asked by every form that sends a request with fields', () => {
  const root = path.join(import.meta.dirname, 'src');
  const lacking = globSync('**/*.tsx', { cwd: root }).flatMap((file) => {
    if (file.startsWith('ui/')) return [];
    const text = readFileSync(path.join(root, file), 'utf8');
    return [...tagsIn(text, 'Form'), ...tagsIn(text, 'Act')]
      .filter((tag) => !tag.endsWith('/>') && !/\bfields=/.test(tag))
      .filter((tag) => tag.startsWith('<Form') || fields.has(/operation="(\w+)"/.exec(tag)?.[1] ?? ''))
      .map((tag) => `${file}: ${/submit=\{(?:t\()?([^)}]+)/.exec(tag)?.[1] ?? tag.slice(0, 60)}`);
  });
  expect(lacking.sort()).toEqual(Object.keys(withoutFields).sort());
});

/** Forms whose fields are no fields of a request. */
const withoutFields: Readonly<Record<string, string>> = {
  "account/AuthenticatorApp.tsx: 'security.enable'":
    'a code is typed with blanks in it, which the form takes away',
  "account/AuthenticatorApp.tsx: 'security.turnOff'": 'one of two codes, which the form tells apart',
  "account/SignIn.tsx: 'signIn.goOn'": 'a code is typed with blanks in it, which the form takes away',
  "cart/Order.tsx: total === null || isAsking ? t('order.submitPlain'": 'bounds are those of the product',
  "organizations/Organization.tsx: 'organization.handOver'": 'a choice between members',
  "vps/Resize.tsx: 'resize.submit'": 'bounds are those of the product',
};

/** Opening tags of a part, whole. */
function tagsIn(text: string, part: string): string[] {
  return [...text.matchAll(new RegExp(`<${part}\\b`, 'g'))].map(({ index }) => {
    let depth = 0;
    for (let at = index; at < text.length; at += 1) {
      if (/[{(]/.test(text[at] ?? '')) depth += 1;
      else if (/[})]/.test(text[at] ?? '')) depth -= 1;
      else if (text[at] === '>' && depth === 0 && text[at - 1] !== '=') return text.slice(index, at + 1);
    }
    return '';
  });
}

it('repeats no bound by hand', () => {
  const root = path.join(import.meta.dirname, 'src');
  const repeated = globSync('**/*.tsx', { cwd: root }).filter((file) =>
    /\b(?:maxLength|minLength|pattern)=\{/.test(readFileSync(path.join(root, file), 'utf8')),
  );
  expect(repeated).toEqual([]);
});

it('repeats no choice by hand', () => {
  const root = path.join(import.meta.dirname, 'src');
  const said = [...fields.values()].flatMap((request) =>
    Object.values(request).flatMap(({ choices }) =>
      choices === undefined ? [] : [[...choices].sort().join()],
    ),
  );
  const known = new Set(said.filter((choices) => choices.includes(',')));
  expect(known.size).toBeGreaterThan(20);
  const repeated = globSync('**/*.{ts,tsx}', { cwd: root }).flatMap((file) =>
    [
      ...readFileSync(path.join(root, file), 'utf8').matchAll(
        /\[((?:\s*(?:\{ value: )?'[^'\n]*'(?:, label: [^}]*\})?,?)+)\s*\]/g,
      ),
    ]
      .map(([, list = '']) => list.replaceAll(/, label: [^}]*\}/g, ''))
      .map((list) =>
        [...list.matchAll(/'([^'\n]*)'/g)]
          .map(([, value = '']) => value)
          .sort()
          .join(),
      )
      .filter((choices) => known.has(choices))
      .map((choices) => `${file}: ${choices}`),
  );
  expect(new Set(repeated)).toEqual(new Set(ownChoices));
});

/** What the dashboard knows by itself, whatever may be asked for: the languages that it is written in, and parts of one field, which forms do not know. */
const ownChoices = [
  ...['data/brand.ts: de,en', 'settings/Brand.tsx: de,en'],
  ...['catalog/staff/TrafficForm.tsx: greater,in,out', 'catalog/staff/TrafficForm.tsx: percentile95,total'],
];
