import { verifyBackup } from '../backup/index.ts';
import type { Command } from './command.ts';
import { contents, withPlace } from './place.ts';

export const verify: Command = {
  usage: 'verify FILE',
  does: 'proves that a backup can be restored, by restoring it into a database that is thrown away',
  options: {},
  takesFile: true,
  run: (config, { file }) =>
    withPlace(config, async ({ data }) => {
      const manifest = await verifyBackup(String(file), data.dir);
      return `${file} is whole and can be restored: ${contents(manifest)}, made by Innkeeper ${manifest.innkeeper} at ${manifest.madeAt}.`;
    }),
};
