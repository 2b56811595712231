import fc, { type Arbitrary } from 'fast-check';

/** As much of JSON Schema as the description uses. */
export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
  examples?: unknown[];
}

/** Text that has meaning to some interpreter on the way: none of them may ever see it as more than text. */
export const hostileText: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...[
      "'; drop table users; --",
      "' or '1'='1",
      '$(reboot)',
      '`id`',
      '; rm -rf /',
      '| cat /etc/passwd',
      '&& true',
    ],
    ...[
      '{{7*7}}',
      '\u0024{7*7}',
      '<%= 7 %>',
      '#{7}',
      '<script>alert(1)</script>',
      '%s%n%x',
      '../../etc/passwd',
      'a\r\nBcc: x',
    ],
    ...[
      '__proto__',
      'constructor',
      'hasOwnProperty',
      'toString',
      '\u0000',
      'a\u0000b',
      '\ud800',
      '\u202e',
      'ﷺ',
      '👩‍👩‍👧',
      'İ',
    ],
    ...[
      'NaN',
      'Infinity',
      '-0',
      '1e309',
      '0x10',
      '007',
      '9007199254740993',
      '-1',
      '99999999999999999999',
      'null',
      'true',
    ],
    ...[
      '0000-01-01',
      '9999-12-31',
      '2026-02-30',
      '10000-01-01',
      '2026-01-01T00:00:00Z',
      '::1',
      '0.0.0.0/0',
      '%00',
      '%',
    ],
    ...['x'.repeat(10_000), '*', '\\', '%_\\', '"', ''],
  ),
  fc.string({ unit: 'binary' }),
  fc.string(),
);

/** Values that a schema allows, the ones at its edges more often than chance would have them. */
export function valueIn(schema: Schema): Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valueIn));
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return fc.jsonValue();
  if (types.length > 1) return fc.oneof(...types.map((type) => valueIn({ ...schema, type })));
  switch (types[0]) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return fc.array(schema.items ? valueIn(schema.items) : fc.jsonValue(), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, (schema.minItems ?? 0) + 3),
      });
    case 'string':
      return withExamples(schema, textOf(schema));
    case 'integer':
      return withExamples(
        schema,
        fc.integer({ min: schema.minimum ?? -1_000_000, max: schema.maximum ?? 1_000_000 }),
      );
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.constant(null);
  }
}

function withExamples(schema: Schema, any: Arbitrary<unknown>): Arbitrary<unknown> {
  return schema.examples ? fc.oneof(any, fc.constantFrom(...schema.examples)) : any;
}

function objectOf(schema: Schema): Arbitrary<unknown> {
  const entries = Object.entries(schema.properties ?? {});
  const model = Object.fromEntries(entries.map(([key, property]) => [key, valueIn(property)]));
  const required = (schema.required ?? []).filter((key) => key in model);
  return fc.record(model, { requiredKeys: required });
}

function textOf(schema: Schema): Arbitrary<string> {
  const { minLength = 0, maxLength = 60 } = schema;
  const byFormat: Record<string, Arbitrary<string>> = {
    date: fc
      .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((day) => day.toISOString().slice(0, 10)),
    'date-time': fc.date({ noInvalidDate: true }).map((moment) => moment.toISOString()),
    email: fc.emailAddress(),
    uuid: fc.uuid(),
    ipv4: fc.ipV4(),
    ipv6: fc.ipV6(),
    uri: fc.webUrl(),
  };
  const special = schema.format === undefined ? undefined : byFormat[schema.format];
  if (special) return special;
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern, 'u'));
  const fits = (text: string) => [...text].length >= minLength && [...text].length <= maxLength;
  return fc.oneof(
    fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 60), unit: 'grapheme-ascii' }),
    fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 20), unit: 'grapheme' }).filter(fits),
    hostileText.filter(fits),
  );
}
