import { staffThing } from './read.ts';

export const concerns = staffThing('/staff/attention');
