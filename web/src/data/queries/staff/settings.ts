import { client } from '../../client.ts';
import { listed } from '../listed.ts';
import { staffThing } from './read.ts';

export const settings = staffThing('/staff/settings');
export const calendarPreview = staffThing('/staff/settings/preview');

/** The same, page by page. */
export const comingSteps = listed(['staff', 'settings', 'coming'], (from, signal) =>
  client.get('/staff/settings/preview', { query: from, signal }),
);
