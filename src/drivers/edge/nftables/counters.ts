import { runAsRoot } from '../../../platform/host/program.ts';
import { EdgeError } from '../contract.ts';
import { type TableFamily, table } from './base.ts';
import { attributesOf, listOf, messageOf, messagesOf, textOf } from './netlink.ts';

/** A rule of a chain, by the comment that it bears, and what it has counted. */
export interface CountedRule {
  comment: string | null;
  packets: number;
  bytes: number;
}

/**
 * Asks the kernel for each chain alone, and passes on what it tells. nft 1.0 fetches all sets of the table for each chain, with every element:
 * in a flood of false senders that takes seconds. What changed meanwhile is asked for again; a chain that there is not has no rules.
 */
const program = `
use strict;
socket(my $kernel, 16, 3, 12) or die "no netlink: $!";
bind($kernel, pack('S S L L', 16, 0, 0, 0)) or die "no netlink: $!";
CHAIN: while (my $each = <STDIN>) {
  chomp $each;
  my ($all, $changed) = ('', 0);
  send($kernel, pack('H*', $each), 0) or die "not sent: $!";
  ANSWER: while (1) {
    defined(recv($kernel, my $answer, 262144, 0)) or die "not told: $!";
    $all .= $answer;
    for (my $at = 0; $at + 16 <= length $answer;) {
      my ($length, $type, $flags) = unpack('L S S', substr($answer, $at, 8));
      $changed ||= $flags & 0x10;
      if ($type == 2 || $type == 3) {
        my $code = unpack('l', substr($answer, $at + 16, 4)) || 0;
        last ANSWER if $code >= 0 || $code == -2;
        $! = -$code; die "refused: $!";
      }
      $at += ($length + 3) & ~3;
    }
  }
  redo CHAIN if $changed;
  print unpack('H*', $all);
}`;

// linux/netfilter/nf_tables.h
const messages = { newRule: 0x0a06, getRule: 0x0a07 } as const;
const ofRule = { table: 1, chain: 2, expressions: 4, userData: 7 } as const;
const ofExpression = { name: 1, data: 2 } as const;
const ofCounter = { bytes: 1, packets: 2 } as const;
const families: Readonly<Record<TableFamily, number>> = { inet: 1, bridge: 7 };

/** By chain, in the order of its rules. Fails with `edge_refused`. */
export async function readCounters(
  inside: (argv: readonly string[]) => readonly string[],
  of: TableFamily,
  chains: readonly string[],
): Promise<Map<string, CountedRule[]>> {
  if (chains.length === 0) return new Map();
  const text = (value: string) => Buffer.from(`${value}\0`);
  const asked = chains.map((chain) =>
    messageOf(
      messages.getRule,
      0,
      [
        [ofRule.table, text(table)],
        [ofRule.chain, text(chain)],
      ],
      { family: families[of], all: true },
    ).toString('hex'),
  );
  const { stdout } = await runAsRoot(inside(['perl', '-e', program]), {
    ...{ input: `${asked.join('\n')}\n`, timeoutMs: 60_000, longestOutput: 500_000_000 },
  }).catch((cause: unknown) => {
    throw new EdgeError('edge_refused', `netlink: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  });
  const found = new Map<string, CountedRule[]>();
  for (const { type, attributes } of messagesOf(Buffer.from(stdout, 'hex'))) {
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
