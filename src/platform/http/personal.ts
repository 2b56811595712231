import { type PersonalRoom, personalTable } from '../personal.ts';
import { forgetAnswersOf } from './idempotency.ts';

const passing = 'it passes: what is done, and what was answered, is forgotten after a while';

/** What the ground floor knows of people: what is under way for them. */
export const platformPersonal: PersonalRoom = {
  tables: [
    personalTable('idempotency_keys', {
      people: ['user_id'],
      hidden: 'answers that were given to them already, sealed',
      closing: 'deleted',
    }),
    personalTable('jobs', {
      organization: 'organization_id',
      hidden: 'work that is under way, which shows in what it is for',
      closing: { kept: passing },
    }),
    personalTable('set_aside', {
      organization: 'organization_id',
      hidden: 'work that waits for staff, which shows in what it is for',
      closing: { kept: passing },
    }),
  ],
  forget: (tx, { userId }) => forgetAnswersOf(tx, userId),
};
