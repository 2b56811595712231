import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What mails about dedicated servers say. */
export const say = texts('dedicated', { en, de });
