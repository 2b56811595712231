import { defaultFolder, makeBackup, noteBackup, verifyBackup } from '../backup/index.ts';
import { borrowServer } from '../database.ts';
import { systemClock } from '../platform/index.ts';
import type { Command } from './command.ts';
import { contents, withInstallation } from './place.ts';

export const backup: Command = {
  usage: 'backup [--to FOLDER] [--without-key] [--quick]',
  does: 'writes a backup of everything but disks, also while the product runs, and restores it for a trial; --quick leaves out the trial',
  options: { to: { type: 'string' }, 'without-key': { type: 'boolean' }, quick: { type: 'boolean' } },
  run: (config, options) =>
    withInstallation(config, async (place) => {
      const to = typeof options.to === 'string' ? options.to : defaultFolder(place.data.dir);
      const isKeyLeftOut = options['without-key'] === true;
      const borrow = () => borrowServer(config, place.data, place.quiet, place.log);
      const database = await borrow();
      const made = await makeBackup({
        url: database.ownerUrl,
        dataDir: place.data.dir,
        filesDir: config.filesDir,
        to,
        withKey: !isKeyLeftOut,
        now: systemClock.now(),
      }).finally(() => database.close());
      if (!options.quick) await verifyBackup(made.file, place.data.dir);
      // Only now: one that does not come back is none.
      const noted = await borrow();
      await noteBackup(noted.ownerUrl, systemClock.now()).finally(() => noted.close());
      const hasKey = made.manifest.files['secret.key'] !== undefined;
      return [
        `${made.file} (${(made.bytes / 2 ** 20).toFixed(1)} MiB): ${contents(made.manifest)}.`,
        options.quick ? '' : 'It was restored for a trial, and every row came back.',
        hasKey
          ? 'It holds the secret key: whoever has this file has everything. Keep a copy away from this machine.'
          : 'It does not hold the secret key, without which it cannot be used. Keep DATA_DIR/secret.key or SECRET_KEY elsewhere.',
        "Machines' disks are not in it; customers' machines have backups of their own.",
      ]
        .filter(Boolean)
        .join('\n');
    }),
};
