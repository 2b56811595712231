/** Follows the stream of events, and takes it up again where it broke. */
import { type Call, type Client, UnreachableError } from '../client/index.ts';
import { shown } from './shown.ts';

interface Sent {
  id: string;
  event: string;
  data: string;
}

const pauseMs = 1_000;

/** Ends when whoever started it ends it, or when the API refuses to go on. */
export async function follow(client: Client, path: string, call: Call, isJson: boolean): Promise<void> {
  let after = call.query?.after;
  for (let isOpen = false; ; ) {
    try {
      const answer = await client.send('get', path, { ...call, query: { ...call.query, after } });
      isOpen = true;
      for await (const sent of sentIn(answer)) {
        if (sent.id !== '') after = sent.id;
        print(sent, isJson);
      }
    } catch (error) {
      // Whoever cannot be reached from the start is told; a stream that breaks later is opened again.
      if (!isOpen || !isBroken(error)) throw error;
      process.stderr.write('The stream broke; it is opened again.\n');
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof UnreachableError || error instanceof TypeError;
}

/** What has been sent, until whoever sends ends it. */
async function* sentIn(answer: Response): AsyncGenerator<Sent> {
  if (answer.body === null) return;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of answer.body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split(/\r?\n\r?\n/);
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const sent = sentOf(block);
      if (sent !== null) yield sent;
    }
  }
}

/** Null of a comment, which only says that somebody is there. */
function sentOf(block: string): Sent | null {
  const sent: Sent = { id: '', event: 'message', data: '' };
  for (const line of block.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^(id|event|data): ?(.*)$/s.exec(line) ?? [];
    if (name === 'data') sent.data += sent.data === '' ? value : `\n${value}`;
    else if (name === 'id' || name === 'event') sent[name] = value;
  }
  return sent.data === '' ? null : sent;
}

/** A line each, so that a program can read on. */
function print({ event, data }: Sent, isJson: boolean): void {
  if (isJson) {
    process.stdout.write(`${data.replaceAll('\n', '')}\n`);
    return;
  }
  const { timestamp = '', data: told = {} } = parsed(data);
  const said = Object.entries(told as Record<string, unknown>)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  process.stdout.write(`${[timestamp, event, ...said].map((each) => shown(String(each))).join('  ')}\n`);
}

function parsed(data: string): { timestamp?: string; data?: unknown } {
  try {
    return JSON.parse(data) as { timestamp?: string; data?: unknown };
  } catch {
    return {};
  }
}
