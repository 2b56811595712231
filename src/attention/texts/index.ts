import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What mails to the provider's own people say. */
export const say = texts('attention', { en, de });
