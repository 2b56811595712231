import fastJsonStringify from 'fast-json-stringify';

type Serialize = (answer: unknown) => string;

/**
 * Writes answers as their schema says. Compiled when the first answer of an operation is written: a start of the product
 * would otherwise spend a third of its time on operations that nobody asks for.
 */
export function serializerFor({ schema }: { schema: unknown }): Serialize {
  let serialize: Serialize | null = null;
  return (answer) => {
    serialize ??= fastJsonStringify(schema as fastJsonStringify.AnySchema) as Serialize;
    return serialize(answer);
  };
}
