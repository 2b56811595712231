import { texts } from '../../platform/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** Texts around every mail. */
export const frameTexts = texts('events', { en, de });
