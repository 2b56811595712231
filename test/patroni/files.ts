/** Settings of the programs, as their own guides have them; only that they look more often, so that tests take less long. */

export interface NodePorts {
  name: string;
  postgres: number;
  rest: number;
}

export function etcdArguments(data: string, { client, peer }: { client: number; peer: number }): string[] {
  const at = (port: number) => `http://127.0.0.1:${port}`;
  return [
    ...['--data-dir', data, '--name', 'etcd', '--log-level', 'warn'],
    ...['--listen-client-urls', at(client), '--advertise-client-urls', at(client)],
    ...['--listen-peer-urls', at(peer), '--initial-advertise-peer-urls', at(peer)],
    ...['--initial-cluster', `etcd=${at(peer)}`],
  ];
}

/** Of Patroni. JSON is YAML. `ttl` is how long the place of a leader that says nothing is kept for it, in seconds. */
export function patroniFile(node: NodePorts & { home: string; bin: string; etcd: number }): string {
  const everybody = [
    'local all all trust',
    'host all all 127.0.0.1/32 trust',
    'host replication all 127.0.0.1/32 trust',
  ];
  return JSON.stringify({
    scope: 'innkeeper',
    name: node.name,
    restapi: { listen: `127.0.0.1:${node.rest}`, connect_address: `127.0.0.1:${node.rest}` },
    etcd3: { host: `127.0.0.1:${node.etcd}` },
    bootstrap: {
      dcs: {
        ...{
          ttl: 20,
          loop_wait: 2,
          retry_timeout: 5,
          maximum_lag_on_failover: 1_048_576,
          synchronous_mode: true,
        },
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: { max_connections: 100, wal_log_hints: 'on' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      ...{ listen: `127.0.0.1:${node.postgres}`, connect_address: `127.0.0.1:${node.postgres}` },
      ...{ data_dir: `${node.home}/data`, bin_dir: node.bin, pgpass: `${node.home}/pgpass` },
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'replicator' },
        rewind: { username: 'postgres' },
      },
      parameters: { unix_socket_directories: node.home, shared_buffers: '64MB' },
      pg_hba: everybody,
    },
  });
}

/** Of HAProxy: it leads to the one whose Patroni says that it is primary, and ends what goes to one that no longer is. */
export function haproxyFile(front: number, nodes: readonly NodePorts[]): string {
  const servers = nodes.map(
    ({ name, postgres, rest }) => `  server ${name} 127.0.0.1:${postgres} maxconn 100 check port ${rest}`,
  );
  return `defaults
  mode tcp
  retries 2
  timeout connect 4s
  timeout client 30m
  timeout server 30m
  timeout check 5s
listen primary
  bind 127.0.0.1:${front}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 3 rise 2 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
}
