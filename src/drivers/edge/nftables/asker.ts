import type { Readable } from 'node:stream';
import { asRoot, startProgram } from '../../../platform/host/program.ts';
import { EdgeError } from '../contract.ts';
import type { TableFamily } from './base.ts';
import { messageOf } from './netlink.ts';

/**
 * Node has no netlink sockets, and Debian always has Perl. This one stays, since starting a program costs more than what it is asked for: a line of
 * hex is a question for all of something, and what the kernel tells of it comes behind its length. What changed meanwhile is asked
 * for again; of what there is not, nothing is told.
 */
const program = `
use strict;
socket(my $kernel, 16, 3, 12) or die "no netlink: $!";
bind($kernel, pack('S S L L', 16, 0, 0, 0)) or die "no netlink: $!";
binmode STDOUT;
QUESTION: while (my $each = <STDIN>) {
  chomp $each;
  my ($all, $changed) = (pack('N', 0), 0);
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
  redo QUESTION if $changed;
  substr($all, 0, 4) = pack('N', length($all) - 4);
  while (length $all) { my $done = syswrite(STDOUT, $all) or exit 0; substr($all, 0, $done, '') }
}`;

/** After so long without a question it ends; the next one begins it anew. */
const idleMs = 10_000;
const answerMs = 60_000;

export interface Asker {
  /** All that the kernel tells of this, netlink messages one after another. Fails with `edge_refused`. */
  ask(question: Buffer): Promise<Buffer>;
  close(): Promise<void>;
}

// linux/netfilter/nf_tables.h
const families: Readonly<Record<TableFamily, number>> = { inet: 1, bridge: 7 };

/** A question for all of what these attributes, each a text, name in a table of this family. */
export function dumpOf(type: number, of: TableFamily, attributes: readonly [number, string][]): Buffer {
  const texts = attributes.map(([kind, text]): [number, Buffer] => [kind, Buffer.from(`${text}\0`)]);
  return messageOf(type, 0, texts, { family: families[of], all: true });
}

/** What goes wrong is told to staff, who reads English. */
const inEnglish = { LC_ALL: 'C', LANGUAGE: '' };

/** Asks the kernel of the network that `inside` puts a program into. Whoever asks may ask the next before the first is answered. */
export function openAsker(inside: (argv: readonly string[]) => readonly string[]): Asker {
  let open: Conversation | null = null;
  const end = () => {
    const ended = open?.end();
    open = null;
    return ended ?? Promise.resolve();
  };
  const idle = setTimeout(end, idleMs).unref();
  return {
    ask: (question) => {
      if (open === null || open.isOver()) open = converse(inside);
      idle.refresh();
      return open.ask(question);
    },
    close: async () => {
      clearTimeout(idle);
      await end();
    },
  };
}

interface Conversation {
  ask(question: Buffer): Promise<Buffer>;
  isOver(): boolean;
  end(): Promise<void>;
}

interface Waiting {
  resolve(answer: Buffer): void;
  reject(why: EdgeError): void;
  /** Also keeps this process until there is an answer: what is asked does not. */
  tooLong: NodeJS.Timeout;
}

function converse(inside: (argv: readonly string[]) => readonly string[]): Conversation {
  const { stdin, stdout, ended, kill, letGo } = startProgram(asRoot(inside(['perl', '-e', program])), {
    env: inEnglish,
  });
  letGo();
  const waiting: Waiting[] = [];
  let isOver = false;
  const fail = (cause?: unknown) => {
    isOver = true;
    const why = cause instanceof Error ? cause.message : 'it has ended';
    for (const { reject, tooLong } of waiting.splice(0)) {
      clearTimeout(tooLong);
      reject(new EdgeError('edge_refused', `netlink: ${why}`, { cause }));
    }
  };
  ended.then(fail, fail);
  answersOf(stdout, (answer) => {
    const first = waiting.shift();
    clearTimeout(first?.tooLong);
    first?.resolve(answer);
  });
  return {
    isOver: () => isOver,
    ask: (question) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject, tooLong: setTimeout(kill, answerMs) });
        stdin.write(`${question.toString('hex')}\n`);
      }),
    end: async () => {
      stdin.end();
      await ended.catch(() => undefined);
    },
  };
}

/** Each behind its length, put together once all of it is there. */
function answersOf(from: Readable, tell: (answer: Buffer) => void): void {
  let parts: Buffer[] = [];
  let length = 0;
  let wanted = 4;
  from.on('data', (chunk: Buffer) => {
    parts.push(chunk);
    length += chunk.length;
    while (length >= wanted) {
      const all = Buffer.concat(parts);
      const end = 4 + all.readUInt32BE(0);
      const isWhole = length >= end;
      if (isWhole) tell(all.subarray(4, end));
      const rest = isWhole ? all.subarray(end) : all;
      parts = [rest];
      length = rest.length;
      wanted = isWhole ? 4 : end;
    }
  });
}
