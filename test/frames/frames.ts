import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { asRoot, runProgram } from '../../src/platform/host/program.ts';

/** A place to listen at: a link, in the network that a command leads into (none: that of the test). */
export interface Place {
  where: string;
  link: string;
  inside: readonly string[];
}

export interface Listening {
  where: string;
  /** Ends it, and gives all that was heard, each frame in hex. */
  end(): Promise<string[]>;
}

/** Prints all that a link receives, whomever it is for, until its input ends; then waits a moment for what is on its way. */
const listener = `
use Socket;
socket(my $line, 17, SOCK_RAW, 0x0300) or die $!;
my $card = pack('a40', $ARGV[0]);
ioctl($line, 0x8933, $card) or die $!;
my $index = unpack('x16 i', $card);
bind($line, pack('S n i x12', 17, 3, $index)) or die $!;
setsockopt($line, 263, 1, pack('i S S x8', $index, 1, 0)) or die $!;
$| = 1; print "listening\\n";
my ($until, $asked) = (0, '');
vec($asked, fileno($line), 1) = 1; vec($asked, 0, 1) = 1;
while (1) {
  my $found = $asked;
  select($found, undef, undef, 0.1);
  if (!$until && vec($found, 0, 1)) { $until = time + 2; vec($asked, 0, 1) = 0 }
  if (vec($found, fileno($line), 1)) { recv($line, my $frame, 2000, 0); print unpack('H*', $frame), "\\n" }
  last if $until && time >= $until;
}`;

export async function listenTo({ where, link, inside }: Place): Promise<Listening> {
  const [program = '', ...args] = asRoot([...inside, 'perl', '-e', listener, link]);
  const child: ChildProcess = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const ended = once(child, 'close');
  await new Promise<void>((resolve, reject) => {
    void ended.then(() => reject(new Error(`nobody listens at ${where}`)));
    if (child.stdout)
      createInterface(child.stdout).on('line', (line) =>
        line === 'listening' ? resolve() : lines.push(line),
      );
  });
  return {
    where,
    async end() {
      child.stdin?.end();
      await ended;
      return lines;
    },
  };
}

/** A command for a guest's shell that puts a program there which sends frames, each an argument in hex: see `send.c`. */
export async function senderFor(path: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'innkeeper-frames-'));
  try {
    const alone = ['-static', '-nostdlib', '-fno-stack-protector', '-fno-asynchronous-unwind-tables'];
    const small = ['-Os', '-s', '-fno-pie', '-no-pie', '-Wl,--build-id=none,-N,-z,noseparate-code'];
    const file = join(dir, 'send');
    await runProgram(['gcc', ...alone, ...small, '-o', file, join(import.meta.dirname, 'send.c')]);
    const bytes = (await readFile(file)).toString('base64');
    return `echo ${bytes} | base64 -d > ${path} && chmod 755 ${path}`;
  } finally {
    await rm(dir, { recursive: true });
  }
}
