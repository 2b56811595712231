import { missingOptions, type Product } from '../catalog/index.ts';
import { identityLimits } from '../drivers/hypervisor/index.ts';
import { type Context, type ErrorDetail, fail, wrongWithDomain } from '../platform/index.ts';
import { isStrongPassword, type Kind } from '../services/index.ts';
import type { Candidate, Item } from './find.ts';

/** What has to be there at all: `missing_fields`. */
export function requireOptions(candidates: Candidate[]): void {
  const missing = candidates.flatMap(({ item, product, kind, path }) => {
    const domain = product.type === 'Domain' && item.domain === undefined ? [`${path}.domain`] : [];
    if (kind.isServer && item.options === undefined) return [...domain, `${path}.options`];
    const options = item.options ?? {};
    const server = kind.isServer ? ['domain', 'password'].filter((key) => options[key] === undefined) : [];
    const needed = new Set([...missingOptions(product, options), ...kind.missing(options)]);
    return [...domain, ...[...needed, ...server].map((key) => `${path}.options.${key}`)];
  });
  if (missing.length === 0) return;
  throw fail('missing_fields', { details: missing.map((field) => ({ field, message: 'is missing' })) });
}

/** What the provider can do at the moment for services of each kind: `invalid_configuration`. */
export async function checkMeans(
  ctx: Context,
  items: { product: Product; kind: Kind; options: Record<string, unknown> }[],
): Promise<void> {
  const problems: ErrorDetail[] = [];
  for (const kind of new Set(items.map((item) => item.kind))) {
    const ofKind = items.flatMap((item, index) =>
      item.kind === kind ? [{ index, order: orderOf(item) }] : [],
    );
    const found = await kind.problems(
      ctx,
      ofKind.map(({ order }) => order),
    );
    for (const [nth, details] of found.entries()) {
      const path = `products[${ofKind[nth]?.index}].options`;
      problems.push(...details.map(({ field, message }) => ({ field: `${path}.${field}`, message })));
    }
  }
  if (problems.length > 0) throw fail('invalid_configuration', { details: problems });
}

/** An item, to its kind. */
export function orderOf({ product, options }: { product: Product; options: Record<string, unknown> }) {
  return { productId: product.id, options };
}

/** Hostnames and domain names: `invalid_domain`. */
export function checkDomains(candidates: Candidate[]): void {
  const problems = candidates.flatMap(({ item, product, kind, path }) => [
    ...badDomain(item.domain, `${path}.domain`, product.type === 'Domain' ? 2 : 1),
    ...badDomain(item.options?.domain, `${path}.options.domain`, 1),
    ...secondDomain(item, path),
    ...(kind.isServer ? longHostname(item.options?.domain, `${path}.options.domain`) : []),
  ]);
  if (problems.length > 0) throw fail('invalid_domain', { details: problems });
}

// A service has one; of two that differ, one would be lost without a word.
function secondDomain({ domain, options }: Item, path: string): ErrorDetail[] {
  const other = options?.domain;
  if (domain === undefined || other === undefined || domain.toLowerCase() === other.toLowerCase()) return [];
  return [{ field: `${path}.domain`, message: 'is not the same as options.domain; send one of them' }];
}

function badDomain(domain: string | undefined, field: string, atLeast: number): ErrorDetail[] {
  const message = domain === undefined ? null : wrongWithDomain(domain, { atLeast });
  return message === null ? [] : [{ field, message }];
}

/** The domain of a machine becomes its hostname (contract §2), of which systems keep less than DNS does. */
function longHostname(domain: string | undefined, field: string): ErrorDetail[] {
  const most = identityLimits.hostnameBytes;
  if (domain === undefined || domain.length <= most) return [];
  return [{ field, message: `is the hostname of the machine and must have at most ${most} characters` }];
}

/** The first passwords of machines: `weak_password`. */
export function checkPasswords(candidates: Candidate[]): void {
  const weak = candidates.flatMap(({ item, path }) => {
    const password = item.options?.password;
    return password === undefined || isStrongPassword(password) ? [] : [`${path}.options.password`];
  });
  if (weak.length === 0) return;
  const message =
    'needs at least 8 characters, of three of these kinds: lower case, upper case, digits, others';
  throw fail('weak_password', { details: weak.map((field) => ({ field, message })) });
}
