import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What mails about an account say. */
export const say = texts('account', { en, de });
