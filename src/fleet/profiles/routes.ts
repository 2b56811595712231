import { IdParams, Nothing, routes } from '../../platform/http/index.ts';
import { profileExamples } from './examples.ts';
import * as S from './schema.ts';
import {
  addProfile,
  changeProfile,
  listProfiles,
  lockProfiles,
  readProfile,
  removeProfile,
} from './staff.ts';

const fleet = { auth: 'staff', area: 'vps', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...fleet, params: IdParams } as const;

const group = {
  tag: 'Staff: server profiles',
  about: 'Rules over what servers have, by which staff says what one is sold as.',
  examples: profileExamples,
};

export const profileRoutes = routes('/staff/server-profiles', group, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listServerProfiles',
      summary: 'List server profiles',
      description: 'Each with how many servers fit it best and how many of them are in stock.',
      query: S.ProfileQuery,
      data: S.ProfileList,
    },
    (ctx, req) => listProfiles(ctx, req.query),
  );
  route.post(
    '',
    {
      ...fleet,
      operation: 'addServerProfile',
      summary: 'Add server profile',
      description:
        'Every server that was measured is held against it at once. One that fits several has the profile with the most rules, and of such with as many the oldest. With `product_id` its ready servers are the stock of that product. Where servers would be sold as what they were no more by it, `conflict` says which ones and what products have left of them, and nothing is changed until `confirm` names the profile.',
      body: S.NewProfile,
      data: S.ProfileData,
      errors: ['conflict'],
    },
    (ctx, req) => addProfile(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      ...one,
      operation: 'getServerProfile',
      summary: 'Get server profile',
      description: 'One profile; which servers have it, `GET /staff/servers?profile_id=` lists.',
      data: S.ProfileData,
      errors: ['not_found'],
      // Servers come and go while somebody decides what is said of the profile.
      etag: { without: ['servers', 'ready'] },
    },
    (ctx, req) => readProfile(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...one,
      operation: 'changeServerProfile',
      summary: 'Change server profile',
      description:
        'Changes what the body names. Every server that was measured is held against it anew. A `baseline` takes the place of the one before; null: nothing is compared. Where servers would be sold as what they were no more by it, `conflict` says which ones and what products have left of them, and nothing is changed until `confirm` names the profile. What orders and services have stays theirs.',
      body: S.ProfileChange,
      data: S.ProfileData,
      errors: ['not_found', 'conflict'],
      lock: (tx) => lockProfiles(tx),
    },
    (ctx, req) => changeProfile(ctx, req.params.id, req.body),
  );
  route.delete(
    '/:id',
    {
      ...one,
      operation: 'removeServerProfile',
      summary: 'Remove server profile',
      description:
        'Servers that had it have another that they fit, or none. Where servers would be sold as what they were no more by it, `conflict` says which ones and what products have left of them, and nothing is changed until `confirm` names the profile.',
      query: S.ProfileRemoval,
      data: Nothing,
      errors: ['not_found', 'conflict'],
      lock: (tx) => lockProfiles(tx),
    },
    (ctx, req) => removeProfile(ctx, req.params.id, req.query),
  );
});
