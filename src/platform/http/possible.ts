import { type TObject, Type } from 'typebox';
import { fail } from '../errors.ts';
import type { Permission } from './permission.ts';
import { Choice, Nullable, named } from './schema.ts';

/** Why something cannot be done right now. */
export interface ReasonAgainst<Code extends string> {
  code: Code;
  /** In words: why not, and what to do. */
  message: string;
}

/** What may be done with a thing, as its answers show it (contract §3): each action, and why not. */
export function PossibleActions<Action extends string, const Codes extends readonly string[]>(
  names: { each: string; all: string },
  actions: readonly Action[],
  codes: Codes,
) {
  const Possible = named(
    names.each,
    Type.Object({
      allowed: Type.Boolean(),
      reason: Nullable(Type.String({ description: 'Why not, and what to do' })),
      code: Nullable(Choice(codes)),
    }),
    'Whether an action is possible now, and why not',
  );
  const each = Object.fromEntries(actions.map((action) => [action, Possible])) as Record<
    Action,
    typeof Possible
  >;
  return named(names.all, Type.Object(each) as TObject<Record<Action, typeof Possible>>);
}

/** Why somebody's role keeps them from something; null when it does not. Who is of staff, `null`, has no role in it. */
export function reasonAgainstRole(
  permissions: ReadonlySet<string> | null,
  permission: Permission,
): ReasonAgainst<'permission_denied'> | null {
  if (permissions === null || permissions.has(permission)) return null;
  return { code: 'permission_denied', message: fail('permission_denied').message };
}

/** The same as values, by the rule that also enforces them: null when an action is possible. */
export function possibleActions<Action extends string, Code extends string>(
  actions: readonly Action[],
  reasonAgainst: (action: Action) => ReasonAgainst<Code> | null,
) {
  const each = actions.map((action) => {
    const refusal = reasonAgainst(action);
    const { code = null, message: reason = null } = refusal ?? {};
    return [action, { allowed: refusal === null, reason, code }] as const;
  });
  return Object.fromEntries(each) as Record<
    Action,
    { allowed: boolean; reason: string | null; code: Code | null }
  >;
}
