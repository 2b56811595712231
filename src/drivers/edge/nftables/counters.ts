import { type Asker, dumpOf } from './asker.ts';
import { type TableFamily, table } from './base.ts';
import { attributesOf, listOf, messagesOf, textOf } from './netlink.ts';

/** A rule of a chain, by the comment that it bears, and what it has counted. */
export interface CountedRule {
  comment: string | null;
  packets: number;
  bytes: number;
}

// linux/netfilter/nf_tables.h
const messages = { newRule: 0x0a06, getRule: 0x0a07 } as const;
const ofRule = { table: 1, chain: 2, expressions: 4, userData: 7 } as const;
const ofExpression = { name: 1, data: 2 } as const;
const ofCounter = { bytes: 1, packets: 2 } as const;

/**
 * By chain, in the order of its rules; a chain that there is not has none. nft 1.0 fetches all sets of the table for each chain, with every
 * element: in a flood of false senders that takes seconds. Fails with `edge_refused`.
 */
export async function readCounters(
  { ask }: Pick<Asker, 'ask'>,
  of: TableFamily,
  chains: readonly string[],
): Promise<Map<string, CountedRule[]>> {
  const answers = await Promise.all(
    chains.map((chain) =>
      ask(
        dumpOf(messages.getRule, of, [
          [ofRule.table, table],
          [ofRule.chain, chain],
        ]),
      ),
    ),
  );
  const found = new Map<string, CountedRule[]>();
  for (const { type, attributes } of answers.flatMap((answer) => [...messagesOf(answer)])) {
    if (type !== messages.newRule) continue;
    const chain = textOf(attributes.get(ofRule.chain));
    const rules = found.get(chain) ?? [];
    rules.push({
      comment: commentOf(attributes.get(ofRule.userData)),
      ...countOf(attributes.get(ofRule.expressions)),
    });
    found.set(chain, rules);
  }
  return found;
}

/** What whoever wrote a rule has kept with it: of each thing its type, its length and itself. */
function commentOf(userData: Buffer | undefined): string | null {
  if (userData === undefined) return null;
  const isComment = 0;
  for (let at = 0; at + 2 <= userData.length; ) {
    const [type, length = 0] = userData.subarray(at, at + 2);
    if (type === isComment) return textOf(userData.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return null;
}

function countOf(expressions: Buffer | undefined): { packets: number; bytes: number } {
  for (const [, expression] of listOf(expressions ?? Buffer.alloc(0))) {
    const each = attributesOf(expression);
    const data = each.get(ofExpression.data);
    if (textOf(each.get(ofExpression.name)) !== 'counter' || data === undefined) continue;
    const counter = attributesOf(data);
    const read = (type: number) => Number(counter.get(type)?.readBigUInt64BE() ?? 0n);
    return { packets: read(ofCounter.packets), bytes: read(ofCounter.bytes) };
  }
  return { packets: 0, bytes: 0 };
}
