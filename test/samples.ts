import type { TSchema } from 'typebox';
import type { Route } from '../src/platform/http/index.ts';

/** Bodies that a schema alone does not tell, by operation. */
const known: Record<string, unknown> = {
  createSshKey: {
    name: 'new',
    public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOc2XbYl3l8oVd7c5Nq0sUuZfLxqyN0Y7fHDMcYJmcX6',
  },
  checkout: { products: [{ id: 1, cycle: 'monthly', type: 'Hosting' }] },
};

interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  examples?: unknown[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  minItems?: number;
  minLength?: number;
  minimum?: number;
  anyOf?: JsonSchema[];
}

/** A body that passes the route's schema: its required fields, each with the first value that fits. */
export function bodyFor(route: Route): unknown {
  return known[route.operation] ?? valueFor(route.body as TSchema & JsonSchema);
}

function valueFor(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.examples) return schema.examples[0];
  if (schema.anyOf?.[0]) return valueFor(schema.anyOf[0]);
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const required = Object.entries(schema.properties ?? {}).filter(([key]) =>
        schema.required?.includes(key),
      );
      return Object.fromEntries(required.map(([key, property]) => [key, valueFor(property)]));
    }
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => valueFor(schema.items ?? {}));
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return 'a'.repeat(Math.max(schema.minLength ?? 0, 1));
  }
}
