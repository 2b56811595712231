/** Numbers that look like chance and are the same for the same seed (mulberry32). */
export class Chance {
  #state: number;
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 to just under 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Whether something happens that happens so often: 0.02 is once in fifty times. */
  is(often: number): boolean {
    return this.next() < often;
  }

  /** A whole number of these, both ends among them. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  of<T>(...choices: readonly T[]): T {
    return choices[this.whole(0, choices.length - 1)] as T;
  }

  /** Another one, which goes on by itself whatever happens to this one. */
  another(name: number): Chance {
    return new Chance(Math.imul(this.#state ^ 0x9e3779b9, 2 * name + 1));
  }
}
