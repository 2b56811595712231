/** Sent with every answer of the API: it is data, so no browser may make anything else of it. */
export type SecurityHeaders = Readonly<Record<string, string>>;

/** The headers for a product that customers reach at `publicUrl`; over https they also pin browsers to it. */
export function securityHeaders(publicUrl: string): SecurityHeaders {
  return {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    ...(publicUrl.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
  };
}
