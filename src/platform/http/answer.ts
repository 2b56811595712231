import type { Readable } from 'node:stream';

const mark = Symbol('answer');

/** Data with headers of its own, such as a cookie, or with something beside it. */
export interface Answer<T> {
  readonly [mark]: true;
  readonly data: T;
  readonly headers: AnswerHeaders;
  readonly beside: Readonly<Record<string, unknown>>;
}

/** Several values only for `set-cookie`. */
type AnswerHeaders = Readonly<Record<string, string | string[]>>;

/** Lets a handler set headers, `return answer(data, { 'set-cookie': … })`, and what stands beside its data. */
export function answer<T>(
  data: T,
  headers: AnswerHeaders,
  beside: Readonly<Record<string, unknown>> = {},
): Answer<T> {
  return { [mark]: true, data, headers, beside };
}

export function isAnswer(value: unknown): value is Answer<unknown> {
  return typeof value === 'object' && value !== null && mark in value;
}

/** Bytes instead of data, from routes that declare `produces`. */
export interface Bytes {
  readonly body: Buffer | Readable;
  /** Replaces the route's `produces`. */
  readonly type?: string;
  /** Offered as a download under this name. */
  readonly name?: string;
  /** How long it is, where that is known. */
  readonly length?: number;
  /** Made by somebody else: no browser may make anything of it, whatever it is. */
  readonly isStrangers?: boolean;
  /** Its address changes with its content: whoever has it need not ask again. */
  readonly isImmutable?: boolean;
  /** Sends browsers on to this address (303); the bytes are for those that do not follow. */
  readonly goTo?: string;
}

/** Content-Disposition of a download: a plain name for old clients, the exact one for the rest (RFC 6266). */
export function dispositionOf(name: string): string {
  const plain = name.replace(/[^\w. -]/g, '_');
  const exact = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
