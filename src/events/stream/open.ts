import type { Bytes, OpenStream, Principal } from '../../platform/http/index.ts';
import { type AccountContext, fail, type OrganizationContext } from '../../platform/index.ts';
import { beatEveryS, type Client, type Hears, openBody, type Watching } from './clients.ts';
import { type BesideJournal, hubOf } from './hub.ts';
import type { Watch } from './watch.ts';

/** What the routes hand over of a request. */
interface Opening {
  stream: OpenStream | null;
  principal: Principal;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  beside: BesideJournal;
  /** The last entry that the caller has, where they could send no header. */
  after: number | undefined;
}

/** The stream of an organization; `watch` is `vps:12345`. `rate_limited`, and what the watched thing fails with. */
export async function openEvents(
  ctx: OrganizationContext,
  watch: string | undefined,
  opening: Opening,
): Promise<Bytes> {
  const watching = watch === undefined ? null : await requireWatch(ctx, watch, opening.beside.watches);
  return open(ctx, { organizationId: ctx.organizationId, watching, hears: () => 'nothing' }, opening);
}

/** The stream of all organizations, for staff, who hears of it what `hears` says. */
export function openAllEvents(ctx: AccountContext, hears: Hears, opening: Opening): Promise<Bytes> {
  return open(ctx, { organizationId: null, watching: null, hears }, opening);
}

async function open(
  { actor: { userId } }: AccountContext,
  of: Pick<Client, 'organizationId' | 'watching' | 'hears'>,
  { stream, headers, beside, after }: Opening,
): Promise<Bytes> {
  if (stream === null) throw new Error('this route is no stream');
  // Who comes back sends both: the address that they began with, and how far they have got since.
  const lastId = lastIdOf(headers['last-event-id']) ?? after ?? null;
  const hub = hubOf(stream.ctx, beside, stream.drivers);
  hub.enter(userId);
  const body = openBody(() => hub.leave(userId));
  const beat = Math.floor(Math.random() * beatEveryS);
  const client: Client = {
    ...{ ...of, userId, body, stream, beat },
    ...{ after: lastId ?? 0, isLive: false, unreadBytes: 0 },
  };
  try {
    await hub.serve(client, lastId);
  } catch (error) {
    body.destroy();
    throw error;
  }
  return { body };
}

function lastIdOf(header: string | string[] | undefined): number | null {
  if (header === undefined || header === '') return null;
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
  const message = 'is no id of an event; leave it out to begin with what happens now';
  throw fail('invalid_request', { details: [{ field: 'Last-Event-ID', message }] });
}

async function requireWatch(
  ctx: OrganizationContext,
  text: string,
  watches: readonly Watch[],
): Promise<Watching> {
  const [kind = '', id = ''] = text.split(':');
  const known = watches.filter((each) => each.kind === kind);
  if (known.length === 0) {
    const kinds = [...new Set(watches.map((each) => `${each.kind}:{id}`))].join(', ');
    throw fail('invalid_request', { details: [{ field: 'query.watch', message: `can be ${kinds}` }] });
  }
  const watch = known.find(({ permission }) => ctx.permissions.has(permission));
  if (watch === undefined) throw fail('permission_denied');
  await watch.require(ctx, Number(id));
  return { kind, id: Number(id) };
}
