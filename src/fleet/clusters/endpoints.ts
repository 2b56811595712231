import { refuse } from '../../platform/index.ts';

/** Endpoints as they are kept: `https://host:port`, each once. `invalid_request` says what is none. */
export function readEndpoints(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text, at) => readEndpoint(text.trim(), `endpoints[${at}]`)))];
}

function readEndpoint(text: string, field: string): string {
  // A line break within would be left out, and another host be meant than the one that is read.
  const url = URL.canParse(text) && !/\s/.test(text) ? new URL(text) : null;
  if (url === null) throw refuse(field, 'must be a URL such as https://192.0.2.1:8443');
  if (url.protocol !== 'https:') throw refuse(field, 'must begin with https://');
  if (url.username || url.password || !['', '/'].includes(url.pathname) || url.search || url.hash)
    throw refuse(field, 'must be a host and a port, nothing more');
  return `https://${url.hostname}:${url.port || '443'}`;
}
