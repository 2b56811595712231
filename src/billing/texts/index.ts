import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What mails about invoices, money and tax say. */
export const say = texts('billing', { en, de });
