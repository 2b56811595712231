import os from 'node:os';

/** PostgreSQL parameters by name, values as they stand in `postgresql.conf` without quotes. */
export type PostgresSettings = Record<string, string>;

/**
 * Parameters for a server that shares its machine with the product and with customers' machines: modest in
 * memory, safe against power loss, and the same everywhere in language and time zone.
 */
export function defaultSettings(
  memoryMib = usableMemoryMib(),
  cpus = os.availableParallelism(),
): PostgresSettings {
  return {
    listen_addresses: '',
    unix_socket_permissions: '0700',
    max_connections: '50',
    // Every gigabyte costs 35 ms at each start; beyond this the file system's cache does as well.
    shared_buffers: `${clamp(memoryMib / 8, 48, 1024)}MB`,
    effective_cache_size: `${clamp(memoryMib / 2, 128, 65536)}MB`,
    work_mem: `${clamp(memoryMib / 512, 4, 32)}MB`,
    maintenance_work_mem: `${clamp(memoryMib / 32, 32, 512)}MB`,
    // On two cores a second worker takes from the requests beside it more than it gives to one.
    max_parallel_workers_per_gather: cpus > 4 ? '2' : '0',
    jit: 'off',
    random_page_cost: '1.1',
    fsync: 'on',
    wal_compression: 'on',
    wal_buffers: '16MB',
    min_wal_size: '128MB',
    max_wal_size: `${clamp(memoryMib / 8, 512, 4096)}MB`,
    checkpoint_timeout: '15min',
    // A machine that vanished in the middle of a transaction must not hold its locks for hours.
    idle_in_transaction_session_timeout: '5min',
    autovacuum_vacuum_scale_factor: '0.05',
    autovacuum_analyze_scale_factor: '0.02',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    log_line_prefix: '%m [%p] ',
    log_checkpoints: 'off',
    log_min_duration_statement: '2s',
    // Statements may carry a customer's data; the log says what was slow or wrong, not with which values.
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
    cluster_name: 'innkeeper',
  };
}

/** The text of a configuration file with these parameters. */
export function settingsFile(settings: PostgresSettings): string {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  return `# Written anew at each start by Innkeeper; changes here are lost.\n${lines.join('\n')}\n`;
}

/** Memory that we may use: what the control group grants, where one limits us, else the machine's. */
function usableMemoryMib(): number {
  const bytes = Math.min(os.totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return bytes / 1024 ** 2;
}

function clamp(value: number, least: number, most: number): number {
  return Math.round(Math.min(most, Math.max(least, value)));
}
