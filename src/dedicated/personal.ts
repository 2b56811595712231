import { type PersonalRoom, personalTable } from '../platform/index.ts';

/** What is known of customers' servers. */
export const dedicatedPersonal: PersonalRoom = {
  tables: [
    personalTable('dedicated_credentials', {
      organization: 'organization_id',
      others: ['shown_to'],
      hidden: 'a password that waits to be shown once, sealed',
      closing: {
        kept: 'it goes with its service, which ends before; until then it says who was shown the password',
      },
    }),
    personalTable('dedicated_actions', {
      organization: 'organization_id',
      others: ['initiator_id'],
      without: ['server_id'],
      closing: { kept: 'its history tells who did what to a server, by numbers' },
    }),
    personalTable('dedicated_moves', {
      organization: 'organization_id',
      without: ['from_server_id', 'to_server_id', 'reason', 'unplugged', 'password', 'problem', 'stopped_at'],
      closing: { kept: 'it says which servers a service had' },
    }),
    personalTable('erasure_proofs', {
      organization: 'organization_id',
      without: ['assignment_id'],
      closing: { kept: 'it proves that nothing of the customer is left on a server' },
    }),
    personalTable('erased_disks', {
      organization: 'organization_id',
      without: ['assignment_id', 'server_id', 'server'],
      closing: { kept: 'the same, by the disk' },
    }),
  ],
};
