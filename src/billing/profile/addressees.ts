import type { Addressee, AddresseesReader } from '../../events/index.ts';
import { toldOf } from '../../organizations/index.ts';
import { profileOf } from './read.ts';

/**
 * Who is told of an organization's affairs. Bills go to the address of its billing profile; everything else, and bills
 * without one, to whoever began it while an active member, otherwise to all owners.
 */
export const readAddressees: AddresseesReader = async (ctx, { organizationId, userId, isBill }) => {
  if (isBill) {
    const { email, language } = await profileOf(ctx, organizationId);
    if (email !== null) return [mailBox(email, language)];
  }
  const people = await toldOf(ctx, organizationId, userId);
  return people.map(({ user_id: id, email, billing_email: bills, ...person }) => ({
    ...person,
    userId: id,
    address: isBill ? (bills ?? email) : email,
  }));
};

function mailBox(address: string, language: string | null): Addressee {
  const nobody = { first_name: null, last_name: null, timezone: null };
  return { ...nobody, address, language, userId: null, notifications: null };
}
