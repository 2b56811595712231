import { asRoot, ProgramError, startProgram } from '../../../platform/host/program.ts';
import { EdgeError } from '../contract.ts';

/**
 * Node has no netlink sockets, and Debian always has Perl: this passes what the kernel sends through to us, each datagram behind
 * its length, and ends with its input. First it sends what we want of the kernel; nothing, of length 0, says that it did.
 */
const program = `
use strict; use IO::Select;
my ($groups, @asked) = @ARGV;
socket(my $kernel, 16, 3, 12) or die "no netlink: $!";
setsockopt($kernel, 1, 33, pack('i', 8 << 20));
bind($kernel, pack('S S L L', 16, 0, 0, $groups)) or die "no netlink: $!";
binmode STDOUT;
sub pass { my ($data) = @_; my $all = pack('N', length $data) . $data;
  while (length $all) { my $done = syswrite(STDOUT, $all) or exit 0; substr($all, 0, $done, '') } }
for my $each (@asked) {
  send($kernel, pack('H*', $each), 0) or die "not sent: $!";
  while (1) {
    recv($kernel, my $answer, 262144, 0); my ($type, $code) = unpack('x4 S x10 l', $answer);
    next if $type != 2;
    last if $code == 0;
    $! = -$code; die "refused: $!";
  }
}
pass('');
my $select = IO::Select->new(\\*STDIN, $kernel);
while (my @ready = $select->can_read) {
  for my $from (@ready) {
    if (fileno($from) == 0) { sysread(STDIN, my $ignored, 4096) or exit 0; next }
    my $data = ''; # more than there is room for is told as an error, and lost
    pass($data) if defined(recv($kernel, $data, 262144, 0)) and length $data;
  }
}`;

export interface Attributes {
  get(type: number): Buffer | undefined;
}

export interface Message {
  type: number;
  attributes: Attributes;
}

export interface Listener {
  /** Fails with `edge_refused` where the kernel did not want it. */
  ready: Promise<void>;
  isOpen(): boolean;
  close(): Promise<void>;
}

/** Hears what the kernel tells `groups` (a bit each), after it was asked for more by some messages. */
export function listen(
  inside: (argv: readonly string[]) => readonly string[],
  { groups = 0, asked = [] }: { groups?: number; asked?: readonly Buffer[] },
  hear: (message: Message) => void,
): Listener {
  const argv = ['perl', '-e', program, String(groups), ...asked.map((each) => each.toString('hex'))];
  const { stdin, stdout, ended } = startProgram(asRoot(inside(argv)));
  let isOpen = true;
  const over = ended.finally(() => {
    isOpen = false;
  });
  const ready = new Promise<void>((resolve, reject) => {
    let buffered = Buffer.alloc(0);
    stdout.on('data', (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      while (buffered.length >= 4) {
        const length = buffered.readUInt32BE(0);
        if (buffered.length < 4 + length) break;
        if (length === 0) resolve();
        else for (const message of messagesOf(buffered.subarray(4, 4 + length))) hear(message);
        buffered = buffered.subarray(4 + length);
      }
    });
    const refuse = (cause?: unknown) => {
      const why = cause instanceof ProgramError ? cause.stderr.trim().slice(-500) : 'it has ended';
      reject(new EdgeError('edge_refused', `netlink: ${why}`, { cause }));
    };
    over.then(refuse, refuse);
  });
  ready.catch(() => undefined); // whoever wants to know waits for it
  return {
    ready,
    isOpen: () => isOpen,
    close: async () => {
      stdin.end();
      await over.catch(() => undefined); // why it ended is told by then, or of no matter
    },
  };
}

/** A datagram holds several, each as long as it says (struct nlmsghdr and nfgenmsg, then attributes). */
export function* messagesOf(datagram: Buffer): Generator<Message> {
  for (let at = 0; at + 20 <= datagram.length; ) {
    const length = datagram.readUInt32LE(at);
    if (length < 16 || at + length > datagram.length) return;
    const body = datagram.subarray(Math.min(at + 20, at + length), at + length);
    yield { type: datagram.readUInt16LE(at + 4), attributes: attributesOf(body) };
    at += (length + 3) & ~3;
  }
}

export function attributesOf(body: Buffer): Attributes {
  return new Map(listOf(body));
}

/** In their order, where several may be of one type. */
export function* listOf(body: Buffer): Generator<[number, Buffer]> {
  for (let at = 0; at + 4 <= body.length; ) {
    const length = body.readUInt16LE(at);
    if (length < 4 || at + length > body.length) return;
    // The two highest bits say how it is written.
    yield [body.readUInt16LE(at + 2) & 0x3fff, body.subarray(at + 4, at + length)];
    at += (length + 3) & ~3;
  }
}

const [isRequest, isAnswered, tellsAll] = [0x1, 0x4, 0x300];

/** One that the kernel answers: that it did so, or `all` of what it has. */
export function messageOf(
  type: number,
  resource: number,
  attributes: readonly [number, Buffer][],
  { family = 0, all = false } = {},
): Buffer {
  const body = attributes.flatMap(([kind, value]) => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(4 + value.length, 0);
    head.writeUInt16LE(kind, 2);
    return [head, value, Buffer.alloc(-value.length & 3)];
  });
  const head = Buffer.alloc(20);
  head.writeUInt32LE(20 + body.reduce((sum, { length }) => sum + length, 0), 0);
  head.writeUInt16LE(type, 4);
  head.writeUInt16LE(isRequest | (all ? tellsAll : isAnswered), 6);
  head.writeUInt8(family, 16);
  head.writeUInt16BE(resource, 18);
  return Buffer.concat([head, ...body]);
}

export function textOf(value: Buffer | undefined): string {
  return value === undefined ? '' : value.toString('latin1').replace(/\0+$/, '');
}
