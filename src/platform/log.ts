import { type DestinationStream, type LoggerOptions, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { errorInLog, messageOf } from './errorInLog.ts';
import { standardError } from './logLines.ts';

type Say = (about: object, message: string) => void;

/** What a context has of a log: somewhere to say something. */
export interface Logger {
  debug: Say;
  info: Say;
  warn: Say;
  error: Say;
}

/** The log of a process as a whole. */
export type ProcessLog = pino.Logger;

/** Names whose values never reach a log line, wherever they stand. */
const secretNames = [
  'password',
  'token',
  'secret',
  'authorization',
  'cookie',
  'api_key',
  'passwordHash',
  'public_key',
];

export interface LogOptions {
  /** `auto` is text on a terminal and JSON elsewhere. Default: `json`. */
  format?: 'auto' | 'json' | 'text';
}

/**
 * Structured logs on standard error, secrets replaced: one JSON object a line, or text for people. Lines are gathered
 * for a moment.
 */
export function createLog(level: string, { format = 'json' }: LogOptions = {}): ProcessLog {
  const isText = format === 'text' || (format === 'auto' && process.stderr.isTTY);
  return pino(logOptions(level), isText ? textOut() : standardError());
}

/** How lines are made, wherever they go. */
export function logOptions(level: string): LoggerOptions {
  const paths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`]);
  return {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths, censor: '[redacted]' },
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: errorInLog, error: errorInLog },
  };
}

/** `12:03:44 WARN  step failed  saga=vps.provision step=boot message="…"`, colours on a terminal. */
function textOut(): DestinationStream {
  const inWords = prettyFactory({
    colorize: process.stderr.isTTY,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    levelFirst: false,
  });
  const lines = standardError(inWords);
  return { ...lines, write: (line) => lines.write(inWords(line)) };
}

/** The log of one request: every line names it. */
export function logOfRequest(log: ProcessLog, requestId: string): Logger {
  const named = (about: object) => ({ request_id: requestId, ...about });
  return {
    debug: (about, message) => log.debug(named(about), message),
    info: (about, message) => log.info(named(about), message),
    warn: (about, message) => log.warn(named(about), message),
    error: (about, message) => log.error(named(about), message),
  };
}

/**
 * What went wrong and why, in one line: the messages of an error and of its causes. For log lines about failures
 * whose stack says nothing that the place of the line does not.
 */
export function causesOf(error: unknown): string {
  const messages: string[] = [];
  for (let each = error; each !== undefined && messages.length < 8; ) {
    const message = each instanceof Error ? messageOf(each) : String(each);
    if (message !== '' && !messages.includes(message)) messages.push(message);
    each = each instanceof Error ? each.cause : undefined;
  }
  return messages.join(': ');
}

/**
 * Writes whole lines to where a log goes. For what leaves a line so often, and with fields so well known, that
 * looking through them for secrets and for their types would be most of its cost.
 */
export function lineWriter(log: ProcessLog): (line: string) => void {
  const { [pino.symbols.streamSym]: stream } = log as unknown as Record<
    symbol,
    { write(line: string): void }
  >;
  if (stream === undefined) throw new Error('a log writes to a stream');
  return (line) => stream.write(line);
}
