import type { ErrorObject } from 'ajv';
import { nearest } from './nearest.ts';
import type { Problem } from './problem.ts';

/** What to do about a name that is unknown, or about one that is missing while something like it was sent. */
export function hintFor(part: Problem['part'], error: ErrorObject, all: readonly ErrorObject[]): string {
  if (error.keyword === 'additionalProperties') return hintForUnknown(part, error);
  if (error.keyword !== 'required') return '';
  const sent = all.filter(
    ({ keyword, instancePath }) => keyword === 'additionalProperties' && instancePath === error.instancePath,
  );
  const missing = String(error.params.missingProperty);
  const close = sent
    .map(({ params }) => String(params.additionalProperty))
    .find((name) => nearest(name, [missing]) !== null);
  return close === undefined ? '' : `; you sent ${close}`;
}

function hintForUnknown(part: Problem['part'], { params, parentSchema }: ErrorObject): string {
  const known = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {});
  const meant = nearest(String(params.additionalProperty), known);
  if (meant !== null) return `; did you mean ${meant}?`;
  const names = part === 'query' ? 'parameters' : 'fields';
  return known.length === 0 ? `; it takes no ${names}` : `; there are ${known.join(', ')}`;
}
