import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readCookie, sessionCookie } from './credential.ts';

/** The body of the API's answer to who asks for a page, by its path below `/`; null where it refuses. */
export type Ask = (target: string, organizationId: number | null) => Promise<string | null>;

/** Paints the page at a path; null where it is none of those that are painted, and later where it is left to its scripts. */
export type Paint = (where: string, shown: Shown, ask: Ask) => Promise<Painted | null> | null;

/** What a browser has shown last, as its scripts say by a cookie. */
export interface Shown {
  organizationId: number;
  scheme: 'light' | 'dark';
}

export interface Painted {
  language: string;
  /** Stands where the scripts draw the page. */
  html: string;
  /** Of its elements: the policy allows none at them. */
  styles: string;
  /** What it was drawn of: the scripts need not ask for it. */
  answers: readonly { target: string; body: string }[];
}

/** A page that is not painted by then is sent without: its scripts draw it. */
const patienceMs = 300;
/** What the dashboard's scripts say of what they showed last; see `web/src/data/shown.ts`. */
const shownCookie = 'innkeeper-shown';

interface Blank {
  page: string;
  nonce: string;
}

/**
 * The page as the server paints it for who asks, or as it is where that does not come about; null where it is not to be painted.
 * What it shows is asked of the API as the browser would ask for it, with what the browser sent: it has no more than the API
 * says to this session.
 */
export function paintedFor(
  app: FastifyInstance,
  paint: Paint,
  request: FastifyRequest,
  blank: Blank,
): Promise<string> | null {
  const shown = shownIn(request);
  if (request.method !== 'GET' || shown === null || readCookie(request.headers, sessionCookie) === null)
    return null;
  const painting = paint(request.url, shown, asker(app, request));
  return painting && inTime(request, painting, blank, shown);
}

async function inTime(
  request: FastifyRequest,
  painting: Promise<Painted | null>,
  blank: Blank,
  shown: Shown,
): Promise<string> {
  const { promise: tooLate, resolve: giveUp } = Promise.withResolvers<null>();
  const timer = setTimeout(giveUp, patienceMs, null);
  // What cannot be painted is no fault of the page: whoever asks finds out by its scripts.
  const drawn = painting.catch((error: unknown) => {
    request.log.debug({ err: error }, 'a page was not painted');
    return null;
  });
  const painted = await Promise.race([drawn, tooLate]);
  clearTimeout(timer);
  return painted === null ? blank.page : withPainted(blank, painted, shown);
}

function shownIn({ headers }: FastifyRequest): Shown | null {
  const [, id, scheme] = /^([1-9]\d{0,15})-(light|dark)$/.exec(readCookie(headers, shownCookie) ?? '') ?? [];
  return id === undefined ? null : { organizationId: Number(id), scheme: scheme as Shown['scheme'] };
}

/** Of what a browser sends with a page, what says who and where somebody is. */
const passedOn = ['cookie', 'user-agent', 'forwarded', 'host', 'x-real-ip'];

function asker(app: FastifyInstance, { headers, socket }: FastifyRequest): Ask {
  const sent = Object.entries(headers).filter(
    ([name]) => passedOn.includes(name) || name.startsWith('x-forwarded-'),
  );
  return async (target, organizationId) => {
    const { statusCode, body } = await app.inject({
      ...{ method: 'GET', url: target },
      ...(socket.remoteAddress !== undefined && { remoteAddress: socket.remoteAddress }),
      headers: {
        ...Object.fromEntries(sent as [string, string][]),
        accept: 'application/json',
        ...(organizationId !== null && { 'x-organization-id': String(organizationId) }),
      },
    });
    return statusCode === 200 ? body : null;
  };
}

/** As the page names a script, all but the first. */
const script = /<script type="module" crossorigin src="([^"]+)"><\/script>/g;

/**
 * The page with what is painted in it, and before all scripts what it was painted of. The scripts are fetched and not yet read:
 * that takes all of a small computer, which draws the page meanwhile. The first one has them run, see `web/src/start.ts`.
 */
function withPainted(
  { page, nonce }: Blank,
  { language, html, styles, answers }: Painted,
  { organizationId, scheme }: Shown,
): string {
  // Nothing ends a script but what looks like its end.
  const data = JSON.stringify({ organizationId, answers }).replaceAll('<', '\\u003c');
  const given = `<script type="application/json" id="answers">${data}</script>`;
  // React writes a quotation mark of people's as a sign: theirs looks like no attribute.
  const drawn = html.replaceAll('nonce="{{nonce}}"', `nonce="${nonce}"`);
  const place = '<div id="root">';
  // Functions, since a text has signs of its own in `replace`.
  return page
    .replaceAll(script, (_, src) => `<link rel="prefetch" as="script" crossorigin href="${src}">`)
    .replace(/<html lang="\w+"/, () => `<html lang="${language}" data-mantine-color-scheme="${scheme}"`)
    .replace('<head>', () => `<head>${given}`)
    .replace(
      place,
      () => `<style nonce="${nonce}">${styles}</style>${place}<div class="painted">${drawn}</div>`,
    );
}
