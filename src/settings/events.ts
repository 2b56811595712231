import { event } from '../events/index.ts';

interface SettingsChanged {
  section: string;
  /** The fields that are different now. */
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

export const settingsChanged = event<SettingsChanged>(
  'settings.changed',
  'staff changed how the company runs',
);
