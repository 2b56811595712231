import { staffThing } from './read.ts';

export const settings = staffThing('/staff/settings');
export const calendarPreview = staffThing('/staff/settings/preview');
