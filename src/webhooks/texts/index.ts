import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What mails about webhooks say. */
export const say = texts('webhooks', { en, de });
