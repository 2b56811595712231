/**
 * What the mail server that we trust wrote about a mail (RFC 8601): the topmost `Authentication-Results` alone, since
 * whatever stands below came with the mail. `dmarc=pass` is what proves a sender; where a domain has no policy, a
 * signature of its own or a server that it names.
 */
export function provedBy(line: string | null, authserv: string, domain: string): boolean {
  if (line === null) return false;
  const value = withoutComments(line.slice(line.indexOf(':') + 1).replaceAll(/\s+/g, ' '));
  if (value === null) return false;
  const [server = '', ...results] = value.split(';').map((part) => part.trim());
  if (server.split(' ')[0]?.toLowerCase() !== authserv.toLowerCase()) return false;
  const said = results.map(resultOf).filter((result) => result !== null);
  const policies = said.filter(({ method }) => method === 'dmarc');
  if (policies.some(({ result }) => result !== 'pass' && result !== 'none')) return false;
  if (policies.some(({ result, of }) => result === 'pass' && of('header.from') === domain)) return true;
  if (policies.some(({ result }) => result === 'pass')) return false; // of another sender than we read
  return said.some(({ method, result, of }) => {
    if (result !== 'pass') return false;
    if (method === 'dkim') return domainOf(of('header.d') || of('header.i')) === domain;
    return method === 'spf' && of('smtp.mailfrom').includes('@') && domainOf(of('smtp.mailfrom')) === domain;
  });
}

interface Said {
  method: string;
  result: string;
  of: (property: string) => string;
}

function resultOf(text: string): Said | null {
  const [first = '', ...rest] = text.split(' ');
  const [, method, result] = /^([a-z0-9-]+)(?:\/\d+)?=([a-z]+)$/i.exec(first) ?? [];
  if (method === undefined || result === undefined) return null;
  const properties = new Map(
    rest.map((property) => {
      const at = property.indexOf('=');
      return [
        property.slice(0, at).toLowerCase(),
        property
          .slice(at + 1)
          .replaceAll('"', '')
          .toLowerCase(),
      ];
    }),
  );
  return {
    ...{ method: method.toLowerCase(), result: result.toLowerCase() },
    of: (property) => properties.get(property) ?? '',
  };
}

/** Comments hold anything, also what looks like a result. Null when they or strings do not end: nobody of ours writes so. */
function withoutComments(text: string): string | null {
  let depth = 0;
  let isString = false;
  let kept = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\') {
      if (depth === 0) return null; // nothing that we look for is written so
      at += 1;
    } else if (isString) {
      // What is in a string separates nothing.
      if (character === '"') isString = false;
      else if (character === ';' || character === ' ') kept += '_';
      else kept += character;
    } else if (depth === 0 && character === '"') isString = true;
    else if (character === '(') depth += 1;
    else if (character === ')') {
      if (depth === 0) return null;
      depth -= 1;
    } else if (depth === 0) kept += character;
  }
  return depth === 0 && !isString ? kept.replaceAll(/ +/g, ' ') : null;
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
