import Fastify from 'fastify';
import { pagePolicy, type WebFile } from './webFiles.ts';

/**
 * `/api/openapi.json` and the interactive reference at `/api/docs`. Everything comes from this host: the viewer is
 * bundled, its fonts, telemetry, proxy and assistants are off, and the page's Content-Security-Policy allows no
 * other host, whatever a later version of the viewer may want.
 */
export function referenceFiles(describe: () => object, title: string): WebFile[] {
  const script = 'text/javascript; charset=utf-8';
  return [
    {
      path: '/api/openapi.json',
      type: 'application/json; charset=utf-8',
      read: () => JSON.stringify(describe()),
    },
    {
      path: '/api/docs',
      type: 'text/html; charset=utf-8',
      read: () => page(title),
      // The viewer writes its styles at run time.
      policy: pagePolicy({ style: "'unsafe-inline'", img: 'data:' }),
    },
    { path: '/api/docs/start.js', type: script, read: () => startScript },
    { path: '/api/docs/viewer.js', type: script, read: loadViewer, cache: 'day' },
  ];
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

/** The viewer's package gives its script away only through a plugin of its own; asked for once. */
async function loadViewer(): Promise<Buffer> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const app = Fastify();
  await app.register(plugin, { routePrefix: '/', configuration: { url: '/' } });
  const { rawPayload } = await app.inject('/js/scalar.js');
  await app.close();
  return rawPayload;
}
