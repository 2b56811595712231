import type { Schema } from './types.ts';

export type ErrorCode = Schema<'ErrorCode'>;
export type ErrorDetail = { field: string; message: string };

/** What the API refused, and why. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  /** What is wrong with which field of the request. */
  readonly details: readonly ErrorDetail[];
  /** Quote it when asking for help. */
  readonly requestId: string;
  /** Seconds to wait before asking again; null when waiting is of no use. */
  readonly retryAfter: number | null;
  /** Whether a POST may have been done all the same, by this try or by one before. */
  isPerhapsDone = false;

  constructor(status: number, body: Schema<'Error'>, retryAfter: number | null) {
    super(body.message);
    this.name = 'ApiError';
    this.status = status;
    this.code = body.code;
    this.details = body.details ?? [];
    this.requestId = body.request_id;
    this.retryAfter = retryAfter;
  }
}

/** No answer came, or none of the API: the network, a proxy, a product that is being started. */
export class UnreachableError extends Error {
  /** Of the HTTP answer of whoever answered instead; null without one. */
  readonly status: number | null;
  /** Whether a POST may have been done all the same, by this try or by one before. */
  isPerhapsDone = false;

  constructor(status: number | null, options?: ErrorOptions) {
    super(status === null ? 'The server cannot be reached' : `The server answered ${status}`, options);
    this.name = 'UnreachableError';
    this.status = status;
  }
}
