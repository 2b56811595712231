import { useQuery } from '@tanstack/react-query';
import type { Schema } from '../../../client/index.ts';
import { session } from '../data/queries/index.ts';

/** The organization that is acted for, by somebody who is in one: the house shows no other page. */
export function useOrganization(): {
  organization: Schema<'Organization'>;
  userId: number;
  may: (permission: Schema<'Permission'>) => boolean;
} {
  const { data: signedIn } = useQuery(session);
  if (!signedIn?.organization) throw new Error('Nobody acts for an organization');
  const { organization, user } = signedIn;
  return {
    organization,
    userId: user.id,
    may: (permission) => organization.permissions.includes(permission),
  };
}
