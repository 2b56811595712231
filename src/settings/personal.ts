import { type PersonalRoom, personalTable } from '../platform/index.ts';

/** Who of staff changed a setting. */
export const settingsPersonal: PersonalRoom = {
  tables: [
    personalTable('settings', {
      others: ['changed_by'],
      hidden: "the provider's",
      closing: { kept: 'it names who changed it by a number' },
    }),
  ],
};
