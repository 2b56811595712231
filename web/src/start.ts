/**
 * The first script, small and with nothing below it: asks for what the page will ask for, while the other scripts are still on
 * their way. Who is signed in, for whom, and what stands on the page would come one after the other, after all scripts.
 */
import { begin } from './data/begun.ts';
import { acting } from './data/impersonation.ts';
import { chosenOrganization, organizationOf } from './data/organization.ts';
import { mayBeSignedIn } from './data/signedIn.ts';
import { makeFormats } from './text/formats.ts';
import { loadWords, spokenFirst } from './text/words.ts';

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

void loadWords(spokenFirst()).catch(() => undefined);
// Who acts as a customer does so by a token of this tab, and seldom.
if (acting() === null) void beginPage().catch(() => undefined);
// While all of that is on its way there is nothing else to do.
makeFormats(spokenFirst());

async function beginPage(): Promise<void> {
  const chosen = chosenOrganization();
  // As the client says it of every call.
  const headers: Record<string, string> = chosen === null ? {} : { 'x-organization-id': String(chosen) };
  begin('/api/brand', headers).catch(() => undefined);
  if (!mayBeSignedIn() || openPages.includes(window.location.pathname.slice(1))) return;
  const [account, organizations] = await Promise.all([
    read<{ preferences: { default_organization_id: number | null } }>('/dashboard/account', headers),
    read<{ organizations: readonly { id: number }[] }>('/dashboard/organizations?limit=100', headers),
  ]);
  // Only now: the account says where news began, and what is read before that would miss some.
  const id = organizationOf(organizations.organizations, account.preferences.default_organization_id)?.id;
  if (id === undefined || window.location.search !== '') return;
  const page = window.location.pathname;
  const [pattern, targets] = reads.find(([each]) => each.test(page)) ?? [];
  for (const target of targets ?? [])
    void begin(
      `/api${pattern === undefined ? target : target.replace('$1', pattern.exec(page)?.[1] ?? '')}`,
      {
        'x-organization-id': String(id),
      },
    ).catch(() => undefined);
}

async function read<Data>(path: string, headers: Readonly<Record<string, string>>): Promise<Data> {
  const response = await begin(`/api${path}`, headers);
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  // Whoever takes it reads it as well.
  return ((await response.clone().json()) as Answer<Data>).data;
}
