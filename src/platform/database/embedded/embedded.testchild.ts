/** Starts the embedded database on the directory named, says where it is, and stays until it is killed. */
import { prepareDataDir } from '../../host/dataDir.ts';
import { startEmbeddedPostgres } from './index.ts';

const place = await prepareDataDir(process.argv[2] ?? '');
const database = await startEmbeddedPostgres({
  ...place,
  log: (line) => console.error(line),
  settings: { shared_buffers: '32MB' },
});
process.on('SIGTERM', () => void database.stop().then(() => process.exit(0)));
const { url, applicationUrl, pid } = database;
console.log(JSON.stringify({ url, applicationUrl, pid, ...place }));
setInterval(() => undefined, 60_000);
