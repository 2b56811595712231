import { type PersonalRoom, personalTable } from '../platform/index.ts';

/** What organizations used of what is for sale. */
export const catalogPersonal: PersonalRoom = {
  tables: [
    personalTable('coupon_uses', {
      organization: 'organization_id',
      people: ['user_id'],
      closing: { kept: 'a coupon is used as often as it says; the organization and the person are numbers' },
    }),
  ],
};
