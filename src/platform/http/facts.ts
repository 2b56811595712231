import { limitOf } from './limits.ts';
import type { Route } from './route.ts';

/** What a declaration says about who may call it, how often, and how it fails, in sentences for the description. */
export function factsOf(route: Route): string[] {
  const facts: string[] = [];
  if (route.permission !== undefined) {
    facts.push(`Your role in the organization needs the permission \`${route.permission}\`.`);
  }
  if (route.auth === 'staff') {
    const roles = route.staffRoles?.map((role) => `\`${role}\``).join(' or ');
    facts.push(roles === undefined ? 'For staff accounts.' : `For staff accounts with the role ${roles}.`);
  }
  if (route.sessionOnly || route.fresh) {
    facts.push('An API key cannot do this: sign in and use the session.');
  }
  if (route.fresh) {
    facts.push('It endangers the account: it asks again who you are (`reauthenticate`) after ten minutes.');
  }
  if (route.limit !== undefined) {
    const { quota, windowS, per } = limitOf(route.limit);
    const countedBy = per === 'ip' && route.auth !== 'public' ? 'credential' : per;
    const whose = { person: 'account', organization: 'organization', ip: 'IP address', credential: 'key' }[
      countedBy
    ];
    facts.push(
      `At most ${quota} times in ${windowS} seconds for each ${whose}, all requests of this kind together.`,
    );
  }
  if (route.errors !== undefined && route.errors.length > 0) {
    const codes = route.errors.map((code) => `\`${code}\``).join(', ');
    facts.push(`Beside what any request can fail with: ${codes}.`);
  }
  return facts;
}
