import { randomBytes } from 'node:crypto';
import type { Writing } from '../book.ts';
import { addressText, type Network, parsePrefix } from '../prefix.ts';

export type Of = 'policy' | 'mitigation';

export interface Named extends Writing {
  of: Of;
  /** Rules of its chain: with others it is not as we wrote it. */
  rules: number;
}

/**
 * The name of a chain says all of the writing that the kernel has to keep for us: what of, for which destination, the
 * generation, how long it is. The last part is chance, so that a name is never used again.
 */
export function nameOf(
  of: Of,
  { family, first, length }: Network,
  generation: number,
  rules: number,
): string {
  const address = first.toString(16).padStart(family === 4 ? 8 : 32, '0');
  return `${of}_${family}_${address}_${length}_${generation}_${rules}_${randomBytes(4).toString('hex')}`;
}

/** Null for names of other things. */
export function readName(name: string): Named | null {
  const parts = /^(policy|mitigation)_([46])_([0-9a-f]+)_(\d+)_(\d+)_(\d+)_[0-9a-f]{8}$/.exec(name);
  if (parts === null) return null;
  const [, of, family, address, length, generation, rules] = parts;
  const text = addressText(family === '4' ? 4 : 6, BigInt(`0x${address}`));
  const network = parsePrefix(`${text}/${length}`);
  return { name, network, generation: Number(generation), of: of as Of, rules: Number(rules) };
}

/** Of all that belongs to a writing: its maps, sets and chains begin with its name. */
export function writingOf(object: string): string {
  return object.split('_').slice(0, 7).join('_');
}
