type Json = Record<string, unknown>;

const wordsOnly = new Set([
  'description',
  'summary',
  'example',
  'examples',
  'x-message',
  'info',
  'tags',
  'headers',
]);

/** A description without what only people read: what a release promises to programs. */
export function promisesOf(document: Json): Json {
  const strip = (value: unknown, isMap: boolean): unknown => {
    if (Array.isArray(value)) return value.map((each) => strip(each, false));
    if (typeof value !== 'object' || value === null) return value;
    // Names of fields, operations and components are names, also where they read like a keyword.
    const kept = Object.entries(value).filter(([key]) => isMap || !wordsOnly.has(key));
    return Object.fromEntries(
      kept.map(([key, inner]) => [key, strip(inner, mapsOfNames.has(key) && !isMap)]),
    );
  };
  return strip(document, false) as Json;
}

const mapsOfNames = new Set([
  'properties',
  'patternProperties',
  'schemas',
  'parameters',
  'paths',
  'responses',
]);
