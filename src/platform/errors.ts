/** What a caller sees of an error besides its `code`: the status, and a message that says what to do. */
export type ErrorFace = readonly [status: number, message: string];

const faces = new Map<string, ErrorFace>();

/**
 * Declares what can go wrong in a room. `fail` and the `errors` of a route take the codes that all rooms declare:
 *
 *     const billingErrors = errors({ invoice_not_payable: [409, 'This invoice is not open for payment'] });
 *
 *     type BillingErrors = typeof billingErrors;
 *     declare module '../platform/errors.ts' {
 *       interface ErrorCatalogue extends BillingErrors {}
 *     }
 *
 * A code belongs to the lowest room that answers it, and is declared once. Codes are stable. Literal texts come
 * from the specification, section 7.
 */
export function errors<const Declared extends Record<string, ErrorFace>>(declared: Declared): Declared {
  for (const [code, face] of Object.entries(declared)) {
    if (faces.has(code)) throw new Error(`the error ${code} is declared twice`);
    faces.set(code, face);
  }
  return declared;
}

const commonErrors = errors({
  // Who is asking (specification §5, §7)
  unauthorized: [401, 'Invalid or expired API key'],
  unauthenticated: [401, 'unauthenticated'],
  forbidden: [403, 'You do not have access to this resource'],
  permission_denied: [
    403,
    'Your role in this organization does not allow this; ask an owner or administrator',
  ],
  session_required: [403, 'An API key cannot do this; sign in and use the session'],
  reauthentication_required: [
    403,
    'This endangers your account, so prove again that it is you (POST /auth/reauthenticate), then repeat the request',
  ],
  second_factor_required: [
    403,
    'This needs a second factor: set up an authenticator app or a passkey for your account, then sign in with it',
  ],
  organization_blocked: [
    403,
    'This organization is blocked: it orders and changes nothing until support lets it go on. What runs goes on, and invoices can be paid',
  ],
  impersonation_refused: [403, 'Who acts as a customer does not reach this; only the customer does'],
  origin_refused: [403, 'A session cookie is only accepted when the request comes from the dashboard itself'],
  staff_only: [403, 'This part of the API is for staff accounts'],
  organization_required: [
    400,
    'Send the header x-organization-id with the integer id of your organization; GET /dashboard/organizations lists yours',
  ],
  organization_ambiguous: [400, 'You belong to several organizations: send x-organization-id to choose one'],

  // What was sent
  invalid_request: [400, 'The request is not valid; see details'],
  invalid_json: [400, 'The body is not valid JSON'],
  duplicate_key: [400, 'The body names a field twice'],
  nesting_too_deep: [400, 'The body is nested too deeply; at most 32 levels are read'],
  body_too_large: [413, 'The body is too large; at most 1 MiB is read'],
  too_many_files: [400, 'These are too many files at once'],
  unsupported_media_type: [415, 'Send Content-Type: application/json'],
  malformed_request: [400, 'This is not a valid HTTP request'],
  headers_too_large: [431, 'The headers are too large; at most 16 KiB are read'],
  request_timeout: [408, 'The request did not arrive in time'],
  not_found: [404, 'No such resource'],
  route_not_found: [404, 'There is no such endpoint; see /api/docs'],
  method_not_allowed: [405, 'This path does not answer that method; see /api/docs'],
  precondition_failed: [412, 'The resource has changed since you read it; read it again and repeat'],
  invalid_cursor: [400, 'This cursor is not valid; start again from the first page'],
  page_too_deep: [400, 'Filtered lists go 10,000 entries deep by page; continue with next_cursor'],
  conflict: [409, 'The resource is not in a state that allows this'],
  rate_limited: [429, 'Too many requests; wait as long as Retry-After says'],

  // Idempotency
  idempotency_key_invalid: [400, 'An Idempotency-Key has 1 to 255 printable ASCII characters'],
  idempotency_key_reused: [422, 'This Idempotency-Key was used with another request; choose a new one'],
  idempotency_in_flight: [409, 'A request with this Idempotency-Key is still running; repeat it shortly'],

  // What several rooms answer
  too_many: [409, 'The limit for this kind of resource is reached; delete one first'],
  invalid_domain: [400, 'invalid domain'],
  amount_too_large: [400, 'The sum is too large; choose less'],

  busy: [409, 'Something else is changing this at the moment; repeat the request shortly'],

  // Our side
  internal_error: [500, 'Something went wrong on our side; quote the request id when you ask for help'],
  unavailable: [503, 'A part of the service is not available right now; try again shortly'],
  driver_absent: [503, 'This server cannot do that; send the request to one that can'],
  storage_full: [503, 'The service cannot store anything right now; try again shortly'],
});

type CommonErrors = typeof commonErrors;

/** Every code by its face; rooms add theirs. */
export interface ErrorCatalogue extends CommonErrors {}

export type ErrorCode = keyof ErrorCatalogue;

/** The codes of all rooms that are loaded. */
export function errorCodes(): ErrorCode[] {
  return [...faces.keys()] as ErrorCode[];
}

/** One field and what is wrong with it; `field` is a path such as `products[0].id`. */
export interface ErrorDetail {
  field: string;
  message: string;
}

export interface FailOptions {
  /** Replaces the catalogue's message where a more exact one can be given. */
  message?: string;
  details?: ErrorDetail[];
  /** Seconds for Retry-After. */
  retryAfterS?: number;
  /** The connection ends with this answer: what is sent next comes over another one. */
  endsConnection?: boolean;
  /** What really happened; logged, never sent. */
  cause?: unknown;
}

/** An error with a public face. Everything else that is thrown becomes `internal_error`. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetail[] | undefined;
  readonly retryAfterS: number | undefined;
  readonly endsConnection: boolean;
  constructor(code: ErrorCode, options: FailOptions = {}) {
    const { status, message } = faceOf(code);
    super(options.message ?? message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = status;
    this.details = options.details;
    this.retryAfterS = options.retryAfterS;
    this.endsConnection = options.endsConnection ?? false;
  }
}

/** Makes the error to throw: `throw fail('locked', { message: … })`. */
export function fail(code: ErrorCode, options?: FailOptions): AppError {
  return new AppError(code, options);
}

/** For a field of a request that cannot be as it is sent: `invalid_request`. `message` goes on after the field's name. */
export function refuse(field: string, message: string): AppError {
  return fail('invalid_request', { details: [{ field, message }] });
}

/** Status and message of a code, for descriptions of the API. */
export function faceOf(code: ErrorCode): { status: number; message: string } {
  const face = faces.get(code);
  if (face === undefined) throw new Error(`no room that is loaded declares the error ${code}`);
  return { status: face[0], message: face[1] };
}

/** The short name of a status, as the specification's error body wants it (§2.2). */
export function statusName(status: number): string {
  return statusNames[status] ?? 'Error';
}

const statusNames: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
