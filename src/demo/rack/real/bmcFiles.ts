export interface BmcParts {
  folder: string;
  address: string;
  port: number;
  uuid: string;
  /** Of its network port. */
  mac: string;
  /** What its maker gave its user `root`. */
  password: string;
  chassis: string;
  /** What says its own address, to whoever asks over the server's bus. */
  lan: string;
  serialPort: number;
  guestPort: number | undefined;
}

/** Of `ipmi_sim`: its users, where it listens, and what it calls to switch its server. It lets in by cipher suite 0, and cannot be told not to. */
export function lanFile({ address, port, uuid, mac, password, ...parts }: BmcParts): string {
  const { chassis, lan, serialPort, guestPort } = parts;
  return [
    'name "bmc"',
    'set_working_mc 0x20',
    'startlan 1',
    `addr ${address} ${port}`,
    'priv_limit admin',
    ...['callback', 'user', 'operator', 'admin'].map((level) => `allowed_auths_${level} md5`),
    `lan_config_program "${lan} ${address} ${mac}"`,
    `guid ${uuid.replaceAll('-', '')}`,
    'endlan',
    `chassis_control "${chassis} 0x20"`,
    ...(guestPort === undefined ? [] : [`serial kcs 127.0.0.1 ${guestPort} codec VM`]),
    `sol "tcp:127.0.0.1:${serialPort}" 115200`,
    'user 1 false "" "" user 10 md5',
    `user 2 true "root" "${password}" admin 10 md5`,
    '',
  ].join('\n');
}

/** Its sensor, which reads the file `temp`, its event log, and what it knows of its server. */
export function simFile({ folder }: Pick<BmcParts, 'folder'>): string {
  const hex = (...bytes: number[]) => bytes.map((byte) => `0x${byte.toString(16)}`).join(' ');
  return [
    'mc_setbmc 0x20',
    'mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr',
    'sel_enable 0x20 1000 0x0a',
    `sensor_add 0x20 0 1 1 1 poll 1000 file "${folder}/temp"`,
    'sensor_set_threshold 0x20 0 1 settable 111000 0xa0 0x90 0x70 0 0 0',
    'sensor_set_event_support 0x20 0 1 enable scanning per-state 000111111000000 000111111000000 000111111000000 000111111000000',
    `mc_add_fru_data 0x20 0 0x100 file 0 "${folder}/fru"`,
    // A full record of the sensor: in degrees, as read, with three upper limits.
    `main_sdr_add 0x20 ${hex(0, 0, 0x51, 1, 0x33, 0x20, 0, 1, 3, 1, 0x67, 0x88, 1, 1, 0xc0, 0x7f, 0xc0, 0x7f, 0x3f, 0x3f, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 3)} ${hex(0x60, 0xb0, 0, 0xb0, 0, 0xa0, 0x90, 0x66, 0, 0, 0, 0, 0, 0, 0, 0, 0xc8)} 'C' 'P' 'U' 0x20 'T' 'e' 'm' 'p'`,
    'mc_enable 0x20',
    '',
  ].join('\n');
}
