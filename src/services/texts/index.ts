import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What mails about orders and services say. */
export const say = texts('services', { en, de });
