import { event } from '../events/index.ts';

interface StaffTold {
  recipient: string;
  kind: string;
  title: string;
  concerns: { id: number; message: string }[];
}

export const staffTold = event<StaffTold>('staff.told', 'a person of the provider was told what needs them');
