/** An answer of Stripe's API that says no. */
export class Refusal extends Error {
  readonly status: number;
  readonly error: Record<string, unknown>;
  constructor(status: number, error: { type: string; message: string; [field: string]: unknown }) {
    super(error.message);
    this.status = status;
    this.error = error;
  }
}

export function invalid(message: string, more: object = {}): Refusal {
  return new Refusal(400, { type: 'invalid_request_error', message, ...more });
}

export function missing(what: string, id: string): Refusal {
  const message = `No such ${what.replaceAll('.', ' ')}: '${id}'`;
  return new Refusal(404, { type: 'invalid_request_error', code: 'resource_missing', param: 'id', message });
}
