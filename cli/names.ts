/**
 * What a command is called, out of the method and the path of its operation alone, so that the dashboard can say it
 * without the description: `POST /dashboard/service/{id}/vps/start` is `vps start`.
 */

/** What reads badly by the rule. */
const called: Readonly<Record<string, string>> = {
  'POST /cart/checkout/invoice': 'orders create',
  'POST /cart/quote': 'orders quote',
  'GET /dashboard/attention': 'attention list',
  'GET /dashboard/search': 'search',
  'GET /dashboard/events': 'events',
  'GET /dashboard/account/export': 'account export',
  'POST /dashboard/account/close': 'account close',
  'POST /dashboard/account/preferences': 'account preferences',
  'POST /auth/email/change/confirm': 'auth email confirm-change',
  'POST /auth/email/change/revoke': 'auth email revoke-change',
  'POST /auth/login': 'auth log-in',
  'POST /auth/login/2fa': 'auth second-factor show',
  'POST /auth/logout': 'auth log-out',
  'POST /auth/second-factor/keep': 'auth second-factor keep',
  'POST /auth/reauthenticate': 'auth prove',
  'POST /auth/reauthenticate/passkey': 'auth passkeys prove',
  'POST /auth/reauthenticate/passkey/options': 'auth passkeys prove-options',
  'GET /dashboard/invoices/export': 'invoices export',
  'GET /dashboard/invoices/{id}/pdf': 'invoices pdf',
  'GET /dashboard/invoices/{id}/xml': 'invoices xml',
  'POST /dashboard/credit/top-up': 'credit top-up',
  'GET /staff/servers/{id}/move': 'staff servers move-options',
  'GET /dashboard/services/{id}/renew': 'services renew-options',
  'GET /dashboard/services/{id}/upgrade': 'services upgrade-options',
  'GET /dashboard/services/{id}/cancel': 'services cancellation show',
  'DELETE /dashboard/services/{id}/cancel': 'services cancellation revoke',
  'POST /dashboard/services/{id}/upgrade-vps': 'vps resize',
  'GET /dashboard/service/{id}/vps/overview': 'vps show',
  'GET /dashboard/service/{id}/vps/console': 'vps console',
  'GET /dashboard/service/{id}/vps/screen': 'vps screen',
  'GET /dashboard/service/{id}/vps/charts': 'vps charts',
  'GET /dashboard/service/{id}/vps/access': 'vps ssh-keys list',
  'POST /dashboard/service/{id}/vps/access': 'vps ssh-keys set',
  'POST /dashboard/tickets/create': 'tickets create',
  'POST /dashboard/tickets/{tid}': 'tickets reply',
  'POST /tickets/feedback': 'tickets rate',
  'POST /dashboard/tickets/{tid}/close': 'tickets close',
  'GET /dashboard/tickets/attachments/{id}': 'tickets attachment',
  'GET /dashboard/organizations/{id}/activity': 'organizations activity',
  'DELETE /dashboard/account/sessions': 'sessions end-others',
  'DELETE /dashboard/account/sessions/{id}': 'sessions end',
  'GET /dashboard/service/{id}/vps/history': 'vps history list',
  'GET /dashboard/service/{id}/dedicated/overview': 'dedicated show',
  'GET /dashboard/service/{id}/dedicated/bandwidth': 'dedicated bandwidth show',
  'GET /dashboard/service/{id}/dedicated/history': 'dedicated history list',
  'GET /dashboard/service/{id}/dedicated/credentials': 'dedicated credentials status',
  'POST /dashboard/service/{id}/dedicated/credentials': 'dedicated credentials show',
  'POST /dashboard/account/2fa/recovery-codes': '2fa recovery-codes renew',
  'POST /dashboard/account/passkeys/options': 'passkeys options',
  'POST /auth/passkeys/options': 'auth passkeys options',
  'GET /dashboard/organizations/{id}/members': 'organizations members list',
  'POST /shield/v2/auth/api': 'shield token',
  'PATCH /shield/v2/rules/{id}/enable': 'shield rules enable',
  'PATCH /shield/v2/rules/{id}/disable': 'shield rules disable',
  'GET /shield/v2/rules/group/{id}': 'shield groups show',
  'DELETE /shield/v2/rules/groups/{id}': 'shield groups delete',
  'GET /shield/v2/rules/presets': 'shield presets list',
  'POST /shield/v2/rules/presets': 'shield presets use',
  'POST /shield/v2/rules/apply': 'shield replacements create',
  'GET /shield/v2/rules/apply/{id}': 'shield replacements show',
  'POST /shield/v2/rules/apply/{id}/confirm': 'shield replacements confirm',
  'POST /shield/v2/rules/apply/{id}/cancel': 'shield replacements cancel',
  'POST /shield/v2/rules/simulate': 'shield simulate',
  'POST /shield/v2/rules/explain': 'shield explain',
  'GET /shield/v2/analytics/traffic': 'shield traffic',
  'GET /staff/search': 'staff search',
  'GET /staff/events': 'staff events',
  'GET /staff/audit': 'staff audit list',
  'GET /staff/attention': 'staff attention list',
  'GET /staff/staff': 'staff people list',
  'POST /staff/staff': 'staff people create',
  'GET /staff/staff/{id}': 'staff people show',
  'PATCH /staff/staff/{id}': 'staff people update',
  'DELETE /staff/staff/{id}': 'staff people delete',
  'POST /staff/staff/{id}/block': 'staff people block',
  'POST /staff/staff/{id}/unblock': 'staff people unblock',
  'POST /staff/users/{id}/factor-reset': 'staff users factor-reset create',
  'GET /staff/settings/preview': 'staff settings calendar',
  'POST /staff/services/{id}/promise': 'staff services promise set',
  'POST /staff/organizations/{id}/promise': 'staff organizations promise set',
  'POST /staff/organizations/{id}/credit': 'staff organizations grant-credit',
  'GET /staff/invoices/export': 'staff invoices export',
  'GET /staff/invoices/{id}/pdf': 'staff invoices pdf',
  'GET /staff/invoices/{id}/xml': 'staff invoices xml',
  'GET /staff/tax/report/csv': 'staff tax report csv',
  'POST /staff/server-profiles/{id}/baseline': 'staff server-profiles take-baseline',
  'POST /staff/servers/{id}/differences/accept': 'staff servers accept-differences',
  'GET /staff/tax/report': 'staff tax report show',
  'GET /staff/bookkeeping/export': 'staff bookkeeping export',
  'GET /staff/tickets/attachments/{id}': 'staff tickets attachment',
  'POST /staff/tickets/{tid}/replies': 'staff tickets answer',
  'POST /staff/tickets/{tid}/notes': 'staff tickets note',
  'GET /staff/unclaimed-mails/{id}/raw': 'staff unclaimed-mails raw',
};

/** Plural in English, and one thing all the same. */
const single = new Set(['vps', 'settings', 'figures', 'preferences']);

/** The words after the program's name; places of the path are its arguments. */
export function wordsOf(method: string, path: string): string[] {
  const known = called[`${method.toUpperCase()} ${path}`];
  if (known !== undefined) return known.split(' ');
  const parts = path.replace('/shield/v2/', '/shield/').split('/').slice(1);
  const unsaid = ['dashboard', 'service', ...(parts.length > 2 ? ['account'] : [])];
  const words = parts.filter((part, at) => !isPlace(part) && !(at < 2 && unsaid.includes(part)));
  const last = parts.at(-1) ?? '';
  const isMany = /(?<!s)s$/.test(last) && !isPlace(last) && !single.has(last);
  switch (method.toUpperCase()) {
    case 'GET':
      return [...words, isMany ? 'list' : 'show'];
    case 'POST':
      return isMany ? [...words, 'create'] : words;
    case 'PATCH':
      return [...words, 'update'];
    case 'PUT':
      return [...words, 'set'];
    default:
      return [...words, 'delete'];
  }
}

function isPlace(part: string): boolean {
  return part.startsWith('{');
}
