import { type PersonalRoom, personalTable } from '../platform/index.ts';

/** What organizations and people used of what is for sale. */
export const catalogPersonal: PersonalRoom = {
  tables: [
    personalTable('coupon_uses', {
      organization: 'organization_id',
      closing: { kept: 'a coupon is used as often as it says; the organization is a number' },
    }),
    personalTable('coupon_uses_of_people', {
      people: ['user_id'],
      closing: { kept: 'a coupon is used as often as it says; the person is a number' },
    }),
  ],
};
