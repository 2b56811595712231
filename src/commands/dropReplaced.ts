import { type Aside, dropAside, listAside } from '../backup/index.ts';
import { borrowServer } from '../database.ts';
import type { Command } from './command.ts';
import { withInstallation } from './place.ts';

export const dropReplaced: Command = {
  usage: 'drop-replaced [--yes]',
  does: 'says what restores with --replace have put aside; --yes deletes it',
  options: { yes: { type: 'boolean' } },
  run: (config, { yes }) =>
    withInstallation(config, async ({ data, quiet, log }) => {
      const database = await borrowServer(config, data, quiet, log);
      try {
        const aside = await listAside(database.ownerUrl, { dataDir: data.dir, filesDir: config.filesDir });
        const names = wordsOf(aside);
        if (names.length === 0) return 'Nothing is put aside.';
        if (yes !== true)
          return [...names, 'Nothing was deleted. To delete it: drop-replaced --yes'].join('\n');
        await dropAside(database.ownerUrl, aside);
        return names.map((name) => `Deleted: ${name}`).join('\n');
      } finally {
        await database.close();
      }
    }),
};

function wordsOf({ schemas, files }: Aside): string[] {
  return [
    ...schemas.map(({ name, bytes }) => `the schema ${name} (${(bytes / 2 ** 20).toFixed(1)} MiB)`),
    ...files,
  ];
}
