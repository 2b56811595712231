import { type Addressee, type AddresseesReader, mailedElsewhere } from '../../events/index.ts';
import { type PersonTold, peopleTold } from '../../organizations/index.ts';
import { type Context, msPerDay, statement } from '../../platform/index.ts';
import { isKnownByMoney } from '../invoices/unpaid.ts';
import { profileOf } from './read.ts';

/**
 * An address for bills is whatever somebody says it is. So many mails a day go to such addresses for an organization; further
 * ones go to its people's own, so that nobody is flooded by orders that are made and cancelled in turn.
 */
const elsewhereADay = { known: 1_000, fresh: 20 };

// Mails are written side by side: what one of them counts must not be written by another meanwhile. Let go when it is written.
const countAlone = statement('billing.countMailsAlone', 'select pg_advisory_xact_lock(741123)');

/**
 * Who is told of an organization's affairs. Bills go to the address of its billing profile; everything else, and bills
 * without one, to whoever began it while an active member, otherwise to all owners.
 */
export const readAddressees: AddresseesReader = async (ctx, { organizationId, userId, isBill }) => {
  const people = await peopleTold(ctx, organizationId, userId);
  if (!isBill) return people.map((person) => addressee(person, person.email));
  const { email, language } = await profileOf(ctx, organizationId);
  if (email !== null) {
    const isOwn = people.some((person) => person.email === email);
    if (isOwn || people.length === 0 || (await mayGo(ctx, organizationId, email)))
      return [mailBox(email, language)];
    return people.map((person) => addressee(person, person.email));
  }
  const told: Addressee[] = [];
  for (const person of people) {
    const { billing_email: bills, email: own } = person;
    const goes = bills !== null && bills !== own && (await mayGo(ctx, organizationId, bills));
    told.push(addressee(person, goes ? bills : own));
  }
  return told;
};

/** Whether one more mail of today goes to an address that is nobody's account. Of who never paid, strangers bear few. */
async function mayGo(ctx: Context, organizationId: number, address: string): Promise<boolean> {
  const isKnown = await isKnownByMoney(ctx, organizationId);
  const limit = isKnown ? elsewhereADay.known : elsewhereADay.fresh;
  if (!isKnown) await ctx.db.run(countAlone);
  const since = new Date(ctx.clock.now().getTime() - msPerDay);
  const { byOrganization, toAddress } = await mailedElsewhere(ctx, { organizationId, address, since, limit });
  return byOrganization < limit && (isKnown || toAddress < limit);
}

function addressee({ user_id: userId, email: _, billing_email: __, ...person }: PersonTold, address: string) {
  return { ...person, userId, address };
}

function mailBox(address: string, language: string | null): Addressee {
  const nobody = { first_name: null, last_name: null, timezone: null };
  return { ...nobody, address, language, userId: null, notifications: null };
}
