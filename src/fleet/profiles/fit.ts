import type { Inventory, InventoryDisk } from '../../drivers/installer/index.ts';

/** What a server has to have to be sold as one thing. What is null may be anything. */
export interface Rules {
  /** Of all its processors together. */
  threads: number | null;
  /** As its modules are sold. */
  memory_gib: number | null;
  /** What its maker calls it, in whatever letters. */
  model: string | null;
  /** Of the port that its addresses go to, as far as the switch goes along; Mbit/s. */
  port_mbps: number | null;
  /** Every disk that it has: one more or another is another server. */
  disks: DiskRule[] | null;
}

export interface DiskRule {
  kind: InventoryDisk['kind'];
  /** Thousand millions of bytes, as disks are sold. */
  gb: number;
  count: number;
}

export type Measured = Pick<Inventory, 'system' | 'processor' | 'memoryMib' | 'memoryModules' | 'disks'> & {
  /** Of the port that its addresses go to, Mbit/s; null: nobody knows. */
  portMbps: number | null;
};

/** What firmware and kernel keep for themselves of memory whose modules nobody knows: a tenth of a small one. */
const leastOfMemory = 0.88;
/** Disks of one size as they are sold differ by so much. */
export const sizeTolerance = 0.03;

/** Whether a server is what the rules say. */
export function fits(
  { threads, memory_gib: gib, model, disks, port_mbps: mbps }: Rules,
  measured: Measured,
): boolean {
  return (
    (threads === null || measured.processor.threads === threads) &&
    (gib === null || isMemory(gib * 1024, measured)) &&
    (model === null || sameWords(measured.system.product, model)) &&
    (mbps === null || measured.portMbps === mbps) &&
    (disks === null || areDisks(disks, measured.disks))
  );
}

/** Of the rules that it fits, those that say most; of such that say as much, the ones that came first. Null: it fits none. */
export function bestFit<R extends Rules>(inOrder: readonly R[], measured: Measured): R | null {
  let best: R | null = null;
  for (const rules of inOrder)
    if (fits(rules, measured) && (best === null || saidBy(rules) > saidBy(best))) best = rules;
  return best;
}

/** How many rules there are in it. */
export function saidBy({ threads, memory_gib: gib, model, disks, port_mbps: mbps }: Rules): number {
  return [threads, gib, model, disks, mbps].filter((rule) => rule !== null).length;
}

function isMemory(mib: number, { memoryMib, memoryModules }: Measured): boolean {
  const installed = memoryModules.reduce((sum, module) => sum + module.mib, 0);
  if (installed > 0) return installed === mib;
  return memoryMib <= mib && memoryMib >= leastOfMemory * mib;
}

function sameWords(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** Each disk is taken by the rule whose size is nearest to its own. */
function areDisks(rules: readonly DiskRule[], disks: readonly InventoryDisk[]): boolean {
  const left = new Map(rules.map((rule) => [rule, rule.count]));
  for (const { kind, bytes } of disks) {
    const away = ({ gb }: DiskRule) => Math.abs(bytes / (gb * 1e9) - 1);
    const [nearest] = rules
      .filter((rule) => rule.kind === kind && away(rule) <= sizeTolerance)
      .sort((a, b) => away(a) - away(b));
    if (nearest === undefined) return false;
    left.set(nearest, (left.get(nearest) ?? 0) - 1);
  }
  return [...left.values()].every((count) => count === 0);
}
