/**
 * The first script, small and with nothing below it: asks for what the page will ask for, while the other scripts are still on
 * their way. Who is signed in, for whom, and what stands on the page would come one after the other, after all scripts.
 */
import { begin, beginBeside, given } from './data/begun.ts';
import { keepHands } from './data/hands.ts';
import { acting } from './data/impersonation.ts';
import { chosenOrganization, organizationOf } from './data/organization.ts';
import { type Painted, painted, seen } from './data/seen.ts';
import { mayBeSignedIn } from './data/signedIn.ts';
import { makeFormats } from './text/formats.ts';
import { languageOf, loadWords, spokenFirst } from './text/words.ts';

interface Answer<Data> {
  data: Data;
}

/** What pages read first, by their addresses; what stands here and is not asked for is a request for nothing. */
const reads: readonly (readonly [page: RegExp, targets: readonly string[]])[] = [
  [/^\/services$/, ['/dashboard/services?limit=50']],
  [/^\/$/, ['/dashboard/attention', '/dashboard/services?status=active&limit=50']],
  [/^\/services\/(\d+)/, ['/dashboard/services/$1']],
];

/** Pages for everybody: who is signed in is nobody's concern there, and where nobody is any more it would be refused. */
const openPages = [
  ...['sign-in', 'register', 'forgot-password', 'verify-email', 'reset-password', 'confirm-email-change'],
  ...['revoke-email-change', 'keep-second-factor', 'ticket-feedback', 'invitation'],
];

const drawn = painted();
// What the server has painted says in which language; what the browser keeps would be waited for.
const language = drawn === null ? spokenFirst() : languageOf(document.documentElement.lang);
if (drawn === null) {
  void loadWords(language).catch(() => undefined);
  beginOwn();
  // While all of that is on its way there is nothing else to do; what is asked for here leaves only when this script has ended.
  setTimeout(() => makeFormats(language));
} else {
  keepHands();
  void seen().then(() => {
    void loadWords(language).catch(() => undefined);
    runScripts();
    if (isOfThisTab(drawn)) return take(drawn);
    document.documentElement.dataset.painted = 'otherwise';
    beginOwn();
  });
}

/** Those that wait until what the server has painted is on the screen, in their order. */
function runScripts(): void {
  for (const { href } of document.querySelectorAll<HTMLLinkElement>('link[rel=prefetch]')) {
    const script = document.createElement('script');
    Object.assign(script, { type: 'module', crossOrigin: 'anonymous', async: false, src: href });
    document.head.append(script);
  }
}

function beginOwn(): void {
  // Who acts as a customer does so by a token of this tab, and seldom.
  if (acting() === null) void beginPage().catch(() => undefined);
}

/** What the server has painted is of the organization that was shown last, in any tab, to who may be signed out by now. */
function isOfThisTab({ organizationId }: Painted): boolean {
  return acting() === null && mayBeSignedIn() && (chosenOrganization() ?? organizationId) === organizationId;
}

/** Has what the page was painted of be the answers to what it will ask for. */
function take({ answers, organizationId }: Painted): void {
  const shown = shownFirst();
  // What a window reads first is asked for before it is known for whom.
  for (const { target, body } of answers)
    given(target, of(shown.includes(target) ? organizationId : chosenOrganization()), body);
}

/** For whom, as the client says it of every call. */
function of(organization: number | null): Record<string, string> {
  return organization === null ? {} : { 'x-organization-id': String(organization) };
}

async function beginPage(): Promise<void> {
  const chosen = chosenOrganization();
  const headers = of(chosen);
  begin('/api/brand', headers).catch(() => undefined);
  if (!mayBeSignedIn() || openPages.includes(window.location.pathname.slice(1))) return;
  const organization = Promise.all([
    read<{ preferences: { default_organization_id: number | null } }>('/dashboard/account', headers),
    read<{ organizations: readonly { id: number }[] }>('/dashboard/organizations?limit=100', headers),
  ]).then(
    ([{ preferences }, { organizations }]) =>
      organizationOf(organizations, preferences.default_organization_id)?.id ?? null,
  );
  // Whose things were shown last is most probably still theirs, and these need not wait for who it is.
  if (chosen !== null)
    for (const target of shownFirst())
      beginBeside(
        target,
        headers,
        organization.then((id) => id === chosen),
      );
  const id = await organization;
  if (id === chosen || id === null) return;
  for (const target of shownFirst()) begin(target, of(id)).catch(() => undefined);
}

/** What the page that is opened shows first. */
function shownFirst(): string[] {
  const { pathname, search } = window.location;
  const [pattern, targets = []] = reads.find(([each]) => each.test(pathname)) ?? [];
  if (pattern === undefined || search !== '') return [];
  return targets.map((target) => `/api${target.replace('$1', pattern.exec(pathname)?.[1] ?? '')}`);
}

async function read<Data>(path: string, headers: Readonly<Record<string, string>>): Promise<Data> {
  const response = await begin(`/api${path}`, headers);
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  // Whoever takes it reads it as well.
  return ((await response.clone().json()) as Answer<Data>).data;
}
