import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What mails about organizations say. */
export const say = texts('organizations', { en, de });
