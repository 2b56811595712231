import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What mails about attacks say. */
export const say = texts('shield', { en, de });
