import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What mails about machines say. */
export const say = texts('vps', { en, de });
