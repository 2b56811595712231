/**
 * Backup and restore of an installation: all rows of the database in one snapshot, the secret key, the few files of
 * DATA_DIR that nothing could make anew, and the files that were kept, in one file that only its owner reads. Rows are kept as PostgreSQL's own text,
 * table by table, and come back into tables that the migrations make; so a backup outlives versions of the product and
 * of PostgreSQL, and is the same for the embedded database and another. Machines' disks are not in it.
 */
export { type Aside, dropAside, listAside } from './aside.ts';
export { BackupError } from './failure.ts';
export { defaultFolder } from './folder.ts';
export { type MadeBackup, makeBackup } from './make.ts';
export { type Manifest, rowsIn } from './manifest.ts';
export { noteBackup } from './note.ts';
export { noteRecovery } from './noteRecovery.ts';
export { type Restored, restoreBackup } from './restore.ts';
export { requireFinishedRestore } from './unfinished.ts';
export { verifyBackup } from './verify.ts';
