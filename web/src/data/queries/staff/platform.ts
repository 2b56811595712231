import { staffList } from './read.ts';

export const failedJobs = staffList('/staff/jobs', 'jobs');
