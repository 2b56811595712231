import { type TSchema, Type } from 'typebox';
import { Choice, line, Nullable, named, Strict } from '../platform/http/index.ts';

export const SearchQuery = Strict({
  q: {
    ...line(100),
    description: 'The beginning of a name, a whole address, or a number',
    examples: ['web1'],
  },
});

/** What is found, by the kinds that there are. */
export function foundOf(names: { each: string; all: string }, kinds: readonly string[]): TSchema {
  return named(
    names.all,
    Type.Object({
      found: Type.Array(
        named(
          names.each,
          Type.Object({
            kind: Choice(kinds),
            id: Type.String({ description: 'As paths name it: an id, or the short code of a ticket' }),
            title: Type.String(),
            detail: Nullable(Type.String({ description: 'What tells it from others of that name' })),
            status: Nullable(Type.String()),
          }),
        ),
      ),
    }),
  );
}
