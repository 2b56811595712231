import { serially } from '../../drivers/index.ts';
import type { Drivers } from '../../platform/index.ts';

/** The edge of a node. */
export type EdgeOf = Drivers['edge'];

const serial = serially();

/**
 * What is told to the edge of a node is told one after another, and each reads what is wanted when its turn has come: so nothing
 * older is under way when an edge is to forget an address. A node has one process.
 */
export function inTurnOf<T>(what: number | string, work: () => Promise<T>): Promise<T> {
  return serial(String(what), work);
}
