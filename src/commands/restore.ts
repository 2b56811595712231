import { restoreBackup } from '../backup/index.ts';
import { openServer } from '../database.ts';
import { systemClock } from '../platform/index.ts';
import type { Command } from './command.ts';
import { oldDoors } from './oldDoors.ts';
import { contents, withPlace } from './place.ts';

export const restore: Command = {
  usage: 'restore FILE [--replace]',
  does: 'puts a backup into an empty database and DATA_DIR, while the product is stopped; --replace puts aside what is there',
  options: { replace: { type: 'boolean' } },
  takesFile: true,
  run: (config, { file, replace }) =>
    withPlace(config, async ({ data, quiet, log }) => {
      // Not beside a running product: taking the lock of DATA_DIR refuses that.
      const database = await openServer({ ...config, role: 'all' }, data, quiet, log);
      const { manifest, asideSchema, asideFiles, isKeyMissing } = await restoreBackup({
        file: String(file),
        url: database.ownerUrl,
        dataDir: data.dir,
        filesDir: config.filesDir,
        secretKey: config.secretKey,
        replace: replace === true,
        now: systemClock.now(),
      }).finally(() => database.close());
      return [
        `Restored as it was at ${manifest.madeAt}: ${contents(manifest)}.`,
        ...(asideSchema === null
          ? []
          : [`What was in the database before is in its schema ${asideSchema}; drop-replaced deletes it.`]),
        ...asideFiles.map((name) => `Put aside: ${name}`),
        ...(isKeyMissing
          ? [
              'The secret key is missing: put secret.key into DATA_DIR, or set SECRET_KEY, before you start the product.',
            ]
          : []),
        'Start the product, then look at GET /api/staff/attention: what was under way with machines is held there until',
        'you decide, and machines that the backup does not know are left alone and listed.',
        ...oldDoors,
      ].join('\n');
    }),
};
