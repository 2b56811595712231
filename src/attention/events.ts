import { event } from '../events/index.ts';

interface StaffTold {
  recipient: string;
  kind: string;
  title: string;
  concerns: { id: number; message: string }[];
}

interface JobRetried {
  name: string;
  state: string;
}

interface JobDismissed {
  name: string;
  state: string;
  why: string;
  reason: string;
}

export const staffTold = event<StaffTold>('staff.told', 'a person of the provider was told what needs them');
export const jobRetried = event<JobRetried>(
  'job.retried',
  'staff let a job that had failed or was stuck begin again or go on',
);
export const jobDismissed = event<JobDismissed>(
  'job.dismissed',
  'staff saw to a job that had failed or was stuck, and took it out of the lists',
);
