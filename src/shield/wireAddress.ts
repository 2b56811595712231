const below = '/api/shield/v2/';

/**
 * Reads addresses of Shield's endpoints as its public clients write them: `rules{id}` is `rules/{id}`, a further `?`
 * begins another parameter, and `Page` is `page`. All others stay as they are.
 */
export function readShieldAddress(method: string, url: string): string {
  if (!url.startsWith(below)) return url;
  const at = url.indexOf('?');
  const [path, query] = at < 0 ? [url, null] : [url.slice(0, at), url.slice(at + 1)];
  const plain = method === 'DELETE' ? path.replace(/^(\/api\/shield\/v2\/rules)(\d+)$/, '$1/$2') : path;
  if (query === null) return plain;
  return `${plain}?${query.replaceAll('?', '&').replace(/(^|&)Page=/g, '$1page=')}`;
}
