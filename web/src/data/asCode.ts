import { fileField, isSecret } from '../../../cli/flags.ts';
import { takeBegun } from './begun.ts';

/** A call as it would be made, which is not made. */
export interface Call {
  method: string;
  /** As the description names it: `/dashboard/services/{id}`. */
  path: string;
  /** What stands in the places of the path. */
  given: Readonly<Record<string, string>>;
  /** The path with what is given in it, and its query. */
  address: string;
  organization: string | null;
  body: unknown;
  /** What a file is that is the whole body, as the API calls it: what is in it stays where it is. */
  upload?: string | undefined;
}

type Seen = Omit<Call, 'path' | 'given'>;

/** Somebody looks at what an action would ask. */
interface Look {
  /** By which the client's refusal of the call is known. */
  id: string;
  /** Whether reading is only looked at, too: what a form reads before it sends is read. */
  isReading: boolean;
  seen: Seen | null;
  path: string | null;
}

let looks = 0;
/** Those whose action has not asked yet, the newest last: what is asked now is theirs. */
const open: Look[] = [];
/** Those whose call was refused and not told of yet. */
const refused = new Map<string, Look>();

/** The `fetch` of the client: what changes something is only looked at while somebody wants to see it as code. */
export const send: typeof fetch = (target, init) => {
  const method = (init?.method ?? 'GET').toUpperCase();
  const look = open.at(-1);
  if (look === undefined || (method === 'GET' && !look.isReading)) {
    const begun =
      method === 'GET' && takeBegun(String(target), (init?.headers ?? {}) as Record<string, string>);
    return begun || fetch(target, init);
  }
  const headers = new Headers(init?.headers);
  // It is seen: what is asked from now on, while the action still ends, is somebody else's.
  open.pop();
  look.seen = {
    ...{ method, address: String(target), organization: headers.get('x-organization-id') },
    body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
    upload: init?.body instanceof Blob ? init.body.type : undefined,
  };
  refused.set(look.id, look);
  const says = { message: look.id, request_id: look.id };
  const face = { success: false, error: 'Conflict', code: 'conflict', ...says };
  return Promise.resolve(Response.json(face, { status: 409 }));
};

/** Notes by which path of the description the call was made. Whether this refusal is such a one. */
export function noteLookedAt(requestId: string, call: { path: string }): boolean {
  const look = refused.get(requestId);
  if (look === undefined) return false;
  look.path ??= call.path;
  return true;
}

/** The first change that something would make, or its reading; null when it makes none. Nothing is changed. */
export async function callOf(act: () => Promise<unknown>, isReading = false): Promise<Call | null> {
  looks += 1;
  const look: Look = { id: `only looked at ${looks}`, isReading, seen: null, path: null };
  open.push(look);
  try {
    // All forms ask at once, before anybody else can. One that reads first keeps it open until it asks, or its change would be made.
    await act();
  } catch {
    // Of the refusal, or since something is still missing.
  } finally {
    if (open.includes(look)) open.splice(open.indexOf(look), 1);
    refused.delete(look.id);
  }
  const { seen, path } = look;
  if (seen === null || path === null) return null;
  return { ...seen, path, given: givenIn(path, seen.address) };
}

function givenIn(template: string, address: string): Record<string, string> {
  const [plain = ''] = address.replace(/^\/api/, '').split('?', 1);
  const values = plain.split('/');
  const given = template.split('/').flatMap((part, at) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    return name === undefined ? [] : [[name, decodeURIComponent(values[at] ?? '')] as const];
  });
  return Object.fromEntries(given);
}

/** What a passkey signs with and what is in a file: too long to show. */
const tooLong = ['credential', fileField];

/** What goes to a path of the description, without what nobody else may read, or what is too long to show. */
export function withoutSecrets(value: unknown, to: string, name = ''): unknown {
  const isHidden = isSecret(name, to) || tooLong.includes(name);
  if (isHidden && value !== null && typeof value !== 'boolean') return '…';
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, to, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutSecrets(each, to, key)]));
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Stands for the name of a file, which nobody can know who only sees what is in it. */
export const file = 'FILE';

/** For a shell; the key stands in its environment. */
export function asCurl(
  { method, path: of, address, organization, body, upload }: Call,
  origin: string,
): string {
  const parts = [`curl -X ${method} ${quoted(origin + address)}`, '-H "token: $INNKEEPER_API_KEY"'];
  if (organization !== null) parts.push(`-H ${quoted(`x-organization-id: ${organization}`)}`);
  if (body !== undefined)
    parts.push(
      `-H 'content-type: application/json'`,
      `-d ${quoted(JSON.stringify(withoutSecrets(body, of)))}`,
    );
  if (upload !== undefined) parts.push(`-H 'content-type: ${upload}'`, `--data-binary @${file}`);
  return parts.join(' \\\n  ');
}

/** For the typed client. */
export function asTypeScript(
  { method, path: of, given, organization, body, upload }: Call,
  origin: string,
): string {
  const id = (value: string) => (Number.isSafeInteger(Number(value)) ? value : JSON.stringify(value));
  const places = Object.entries(given).map(([name, value]) => `${name}: ${id(value)}`);
  const parts = [
    ...(places.length > 0 ? [`  path: { ${places.join(', ')} },`] : []),
    ...(body === undefined
      ? []
      : [`  body: ${JSON.stringify(withoutSecrets(body, of), null, 2).replaceAll('\n', '\n  ')},`]),
  ];
  const options = [
    `  url: ${JSON.stringify(`${origin}/api`)},`,
    '  token: process.env.INNKEEPER_API_KEY,',
    ...(organization === null ? [] : [`  organization: () => ${id(organization)},`]),
  ];
  const made = `const client = new Client({\n${options.join('\n')}\n});\n`;
  const sent = `client.upload(${JSON.stringify(of)}, await openAsBlob('${file}'), '${upload}')`;
  if (upload !== undefined) return `import { openAsBlob } from 'node:fs';\n\n${made}await ${sent};`;
  const call = `${method.toLowerCase()}(${JSON.stringify(of)}${parts.length > 0 ? `, {\n${parts.join('\n')}\n}` : ''})`;
  return `${made}await client.${call};`;
}
