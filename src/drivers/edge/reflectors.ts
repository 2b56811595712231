/**
 * UDP services that answer a small question of a false sender with much more, by the port that they answer from.
 * Source: CISA alert TA14-017A, and the advisories that named the later ones.
 */
export const reflectors: Readonly<Record<number, string>> = {
  17: 'qotd',
  19: 'chargen',
  53: 'dns',
  69: 'tftp',
  111: 'portmap',
  123: 'ntp',
  137: 'netbios',
  161: 'snmp',
  389: 'cldap',
  427: 'slp',
  520: 'ripv1',
  1194: 'openvpn',
  1434: 'mssql',
  1900: 'ssdp',
  3283: 'ard',
  3389: 'rdp',
  3702: 'ws_discovery',
  5353: 'mdns',
  5683: 'coap',
  10001: 'ubiquiti',
  11211: 'memcached',
  37810: 'dvr',
};
