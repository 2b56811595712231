/** The body of a request, out of flags. */
import type { Field } from './fields.ts';

/** A file and what it is called. */
export interface Attached {
  content: string;
  name: string;
}

/** A body, put together flag by flag. What is given once more in a list begins another entry. */
export class Body {
  readonly value: Record<string, unknown>;

  constructor(value: Record<string, unknown> = {}) {
    this.value = value;
  }

  put(field: Field, value: unknown): void {
    const steps = field.path.filter((step) => step !== '[]');
    let at = this.value;
    for (const [index, step] of steps.slice(0, -1).entries()) {
      const isList = field.path[field.path.indexOf(step, index) + 1] === '[]';
      at = isList
        ? this.#entry(at, step, steps, index)
        : within(at, step, (): Record<string, unknown> => ({}));
    }
    const name = steps.at(-1) ?? '';
    if (!field.isMany) {
      if (field.isFile && typeof value === 'object') {
        const { content, name: called } = value as Attached;
        Object.assign(at, { name: called, ...at, [name]: content });
      } else at[name] = value;
      return;
    }
    if (value === null) at[name] = null;
    else {
      const list = within(at, name, (): unknown[] => []);
      if (Array.isArray(value)) list.push(...value);
      else if (value !== undefined) list.push(value);
    }
  }

  /** The entry of a list that is being described: the last one, unless it has this already. */
  #entry(at: Record<string, unknown>, step: string, steps: string[], index: number): Record<string, unknown> {
    const list = within(at, step, (): Record<string, unknown>[] => []);
    const last = list.at(-1);
    if (last !== undefined && !has(last, steps.slice(index + 1))) return last;
    const fresh = {};
    list.push(fresh);
    return fresh;
  }
}

/** What stands there, made when it does not. */
function within<T>(at: Record<string, unknown>, step: string, make: () => T): T {
  if (at[step] === undefined) at[step] = make();
  return at[step] as T;
}

function has(value: unknown, [step = '', ...more]: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null || !(step in value)) return false;
  const inner = (value as Record<string, unknown>)[step];
  return more.length === 0 ? !Array.isArray(inner) : !Array.isArray(inner) && has(inner, more);
}

/** Flags go on top of a body of a file. */
export function merge(
  under: Record<string, unknown>,
  over: Record<string, unknown>,
): Record<string, unknown> {
  const isRecord = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const merged = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const before = merged[name];
    merged[name] = isRecord(before) && isRecord(value) ? merge(before, value) : value;
  }
  return merged;
}
