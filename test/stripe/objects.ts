import { randomBytes } from 'node:crypto';

/** An object of Stripe's API, with the fields that its reference names. */
export interface StripeObject {
  id: string;
  object: string;
  created: number;
  livemode: false;
  // biome-ignore lint/suspicious/noExplicitAny: the fields are Stripe's, and the library that reads them knows their types
  [field: string]: any;
}

export function idFor(prefix: string): string {
  return `${prefix}_${randomBytes(9).toString('hex')}`;
}

export function nowS(): number {
  return Math.floor(Date.now() / 1_000);
}

/** Everything that an account has, by id, in the order in which it was made. */
export class Objects {
  readonly #all = new Map<string, StripeObject>();
  /** What time it is at Stripe; another one where a test moves the product's. */
  now: () => number = nowS;

  /** `hidden` is what Stripe knows as well, and shows to nobody. */
  make(prefix: string, object: string, fields: object, hidden: object = {}): StripeObject {
    const made: StripeObject = { id: idFor(prefix), object, created: this.now(), livemode: false, ...fields };
    for (const [name, value] of Object.entries(hidden))
      Object.defineProperty(made, name, { value, writable: true, enumerable: false });
    this.#all.set(made.id, made);
    return made;
  }

  find(id: string, object: string): StripeObject | null {
    const found = this.#all.get(id);
    return found?.object === object ? found : null;
  }

  has(id: string): boolean {
    return this.#all.has(id);
  }

  every(object: string): StripeObject[] {
    return [...this.#all.values()].filter((each) => each.object === object);
  }

  /** A copy for an answer, in which the named fields are objects instead of their ids. */
  show(object: StripeObject, expand: readonly string[] = []): StripeObject {
    const copy = structuredClone(object);
    for (const path of expand) this.#expand(copy, path.split('.'));
    return copy;
  }

  #expand(within: StripeObject, [field, ...rest]: string[]): void {
    if (field === undefined) return;
    const value = within[field];
    const id = typeof value === 'object' ? value?.id : value;
    const found = this.#all.get(id);
    if (found === undefined) return;
    const inner = typeof value === 'object' ? value : structuredClone(found);
    within[field] = inner;
    this.#expand(inner, rest);
  }
}
