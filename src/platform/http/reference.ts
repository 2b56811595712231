import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { etagOf, matchesTag } from './etag.ts';

const gzip = promisify(gzipCallback);

/**
 * Serves `/api/openapi.json` and the interactive reference at `/api/docs`. Everything comes from this host: the
 * viewer is bundled, its fonts, telemetry, proxy and assistants are off, and the page's Content-Security-Policy
 * allows no other host, whatever a later version of the viewer may want.
 */
export function serveReference(app: FastifyInstance, document: object, title: string): void {
  const json = JSON.stringify(document);
  const tag = etagOf(json);
  app.get('/api/openapi.json', (request, reply) => {
    reply.headers({ 'cache-control': 'no-cache', etag: tag });
    if (matchesTag(request.headers['if-none-match'] ?? '', tag, 'weak')) return reply.code(304).send();
    return reply.header('content-type', 'application/json; charset=utf-8').send(json);
  });

  app.get('/api/docs', (_request, reply) => sendPage(reply, page(title)));
  app.get('/api/docs/start.js', (_request, reply) =>
    reply.header('content-type', 'text/javascript; charset=utf-8').send(startScript),
  );
  let viewer: Promise<Buffer> | null = null;
  app.get('/api/docs/viewer.js', async (_request, reply) => {
    viewer ??= loadViewer();
    reply.headers({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'gzip',
      'cache-control': 'public, max-age=86400',
    });
    return viewer;
  });
}

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // The viewer writes its styles at run time.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy,
      'cross-origin-opener-policy': 'same-origin',
    })
    .send(html);
}

function page(title: string): string {
  const safe = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${safe} API</title>
  <link rel="icon" href="data:,">
</head>
<body>
  <div id="reference"></div>
  <script src="/api/docs/viewer.js"></script>
  <script src="/api/docs/start.js"></script>
</body>
</html>
`;
}

const viewerOptions = {
  url: '/api/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  hideClientButton: true,
  showDeveloperTools: 'never',
  mcp: { disabled: true },
  agent: { disabled: true, hideAddApi: true },
  persistAuth: false,
  authentication: { preferredSecurityScheme: 'token' },
};

const startScript = `Scalar.createApiReference('#reference', ${JSON.stringify(viewerOptions)});\n`;

/** The viewer's package gives its script away only through a plugin of its own; asked for once, kept compressed. */
async function loadViewer(): Promise<Buffer> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const app = Fastify();
  await app.register(plugin, { routePrefix: '/', configuration: { url: '/' } });
  const { rawPayload } = await app.inject('/js/scalar.js');
  await app.close();
  return gzip(rawPayload);
}
