type Json = Record<string, unknown>;

/** The document with each `$ref` replaced by what it refers to; words beside a reference win. */
export function dereference<T>(document: T): T {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...beside } = value as Json;
    const plain = Object.fromEntries(Object.entries(beside).map(([key, inner]) => [key, resolve(inner)]));
    return typeof $ref === 'string' ? { ...(resolve(lookUp(document, $ref)) as Json), ...plain } : plain;
  };
  return resolve(document) as T;
}

/** What a reference such as `#/components/schemas/Invoice` points to; undefined when there is nothing. */
export function lookUp(document: unknown, reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, step) => (at as Json | undefined)?.[step], document);
}
