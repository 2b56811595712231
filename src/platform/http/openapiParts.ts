/** Parameters that many operations have. */
export const parameters = {
  OrganizationHeader: {
    name: 'x-organization-id',
    in: 'header',
    required: true,
    description: 'Organization whose resources are accessed',
    schema: { type: 'integer', format: 'int64', minimum: 1 },
    example: 4503599627370101,
  },
  OptionalOrganizationHeader: {
    name: 'x-organization-id',
    in: 'header',
    required: false,
    description: 'Organization to act for; your only or default one when absent',
    schema: { type: 'integer', format: 'int64', minimum: 1 },
    example: 4503599627370101,
  },
  OrganizationHeaderOrQuery: {
    name: 'x-organization-id',
    in: 'header',
    required: false,
    description: 'Organization whose resources are accessed; without it `organization_id` names one',
    schema: { type: 'integer', format: 'int64', minimum: 1 },
    example: 4503599627370101,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes it safe to send the request again: for 24 hours the same key and body get the same answer',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: 'order-2026-01-31-0001',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'ETag of the state you read; the change is refused with 412 when it is not that any more',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'ETag you have; when it is still right the answer is 304 without a body',
    schema: { type: 'string' },
  },
};

/** Headers of answers. */
export const headers = {
  RequestId: { description: 'X-Request-Id of the request, or a new one', schema: { type: 'string' } },
  RateLimit: { description: 'What is left: `"default";r=599;t=60`', schema: { type: 'string' } },
  RateLimitPolicy: { description: 'Limits that count: `"default";q=600;w=60`', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait', schema: { type: 'integer' } },
  ETag: { description: 'Tag of this state', schema: { type: 'string' } },
  IdempotencyReplayed: { description: '`true` on a stored answer', schema: { type: 'string' } },
};
