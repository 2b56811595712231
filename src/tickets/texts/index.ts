import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What mails about tickets say. */
export const say = texts('tickets', { en, de });
