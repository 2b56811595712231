import { version } from '../version.ts';
import type { Command } from './command.ts';

export const showVersion: Command = {
  usage: 'version',
  does: 'says which version this is, and which Node runs it',
  options: {},
  run: async () => `Innkeeper ${version} (Node ${process.version})`,
};
