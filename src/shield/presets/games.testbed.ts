/**
 * What clients of games really send first, byte by byte as their protocols are documented, and floods of the kinds that game servers get.
 */

export interface GameTraffic {
  /** By family, where what is sent by UDP goes to. */
  ports: { 4: number; 6: number };
  /** Datagrams of a client, from its first question to being connected. */
  datagrams: Record<string, Buffer>;
  /** What it says first by TCP, to the same port. */
  greeting: Buffer | null;
  /** Datagrams that no client sends. */
  never: Record<string, Buffer>;
}

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const text = (value: string) => Buffer.from(value, 'latin1');
const zeros = (bytes: number) => Buffer.alloc(bytes);
const join = (...parts: Buffer[]) => Buffer.concat(parts);

/** RakNet's mark of packets outside of connections. */
const magic = hex('00ffff00 fefefefe fdfdfdfd 12345678');

/** RakNet (Minecraft Bedrock, and Rust as it was). */
const rakNet: GameTraffic['datagrams'] = {
  'an unconnected ping': join(hex('01 00000000 00001234'), magic, hex('8877665544332211')),
  // The whole packet is as long as the MTU that is asked about: 28 bytes before the datagram, 18 before the zeros.
  ...Object.fromEntries(
    [1_492, 1_200, 576].map((mtu) => [
      `an open connection request 1 of ${mtu}`,
      join(hex('05'), magic, hex('0b'), zeros(mtu - 46)),
    ]),
  ),
  'an open connection request 2': join(hex('07'), magic, hex('04 80ffff fe 4abc 05d4 8877665544332211')),
  'a connection request': hex('84 000000 40 0090 000000 09 8877665544332211 0000000000001234 00'),
  'a connected ping': hex('84 010000 00 0048 00 0000000000001234'),
  'an acknowledgement of one packet': hex('c0 0001 01 000000'),
  'a report of one that is missing': hex('a0 0001 01 000000'),
};

const outOfBand = hex('ffffffff');
const questions: GameTraffic['datagrams'] = {
  A2S_INFO: join(outOfBand, text('TSource Engine Query\0')),
  'A2S_INFO with a challenge': join(outOfBand, text('TSource Engine Query\0'), hex('4ba1d522')),
  'A2S_PLAYER without a challenge': join(outOfBand, hex('55 ffffffff')),
  A2S_RULES: join(outOfBand, hex('56 4ba1d522')),
};

const tooLong = { 'a datagram of 1472 bytes': Buffer.alloc(1_472, 0x41) };
const nothing = { 'a datagram without a byte': zeros(0) };

export const traffic: Record<string, GameTraffic> = {
  'game-minecraft-java': {
    ports: { 4: 25_565, 6: 25_565 },
    datagrams: {
      'a handshake of the query': hex('fefd 09 00000001'),
      'a basic stat': hex('fefd 00 00000001 0091295b'),
      'a full stat': hex('fefd 00 00000001 0091295b 00000000'),
    },
    // A handshake (protocol 767, localhost, 25565, status), and a status request.
    greeting: hex('10 00 ff05 09 6c6f63616c686f7374 63dd 01 01 00'),
    never: { ...tooLong, ...nothing, 'a datagram of 100 bytes': Buffer.alloc(100, 0x41) },
  },
  'game-minecraft-bedrock': {
    ports: { 4: 19_132, 6: 19_133 },
    datagrams: rakNet,
    greeting: null,
    never: { ...tooLong, ...nothing, 'six bytes': zeros(6) },
  },
  'game-source': {
    ports: { 4: 27_015, 6: 27_015 },
    datagrams: {
      ...questions,
      'a question for a challenge to connect': join(outOfBand, text('qconnect0x00000000\0')),
      'the shortest packet of a connection': hex('01000000 00000000 00 0000 00 20202020'),
      'the longest part of a packet': join(hex('feffffff 01000000 02 00 e004'), zeros(1_388)),
    },
    greeting: null,
    never: { ...tooLong, ...nothing, 'four bytes': outOfBand },
  },
  'game-fivem': {
    ports: { 4: 30_120, 6: 30_120 },
    datagrams: {
      'a question of a list': join(outOfBand, text('getinfo xxx')),
      // ENet: the header says that it has the time; then a connect of 48 bytes.
      'an ENet connect': join(
        hex('8fff 1234 82 ff 0001 0000 00 00 00000578 00010000 00000002'),
        hex('00000000 00000000 00001388 00000002 00000002 3c5e0f21 00000000'),
      ),
      'an ENet acknowledgement': hex('0000 01 ff 0000 0001 1234'),
      'an ENet ping': hex('8000 1234 85 ff 0002'),
      'an ENet packet as long as they may be': Buffer.alloc(1_400, 0x80),
    },
    greeting: text('GET /info.json HTTP/1.1\r\nHost: play\r\n\r\n'),
    never: { ...tooLong, ...nothing, 'seven bytes': zeros(7) },
  },
  'game-teamspeak': {
    ports: { 4: 9_987, 6: 9_987 },
    datagrams: {
      'the first packet of a client': join(
        text('TS3INIT1'),
        hex('0065 0000 88 06ec7a26 00 5a1b2c3d 01020304 0000000000000000'),
      ),
      'the shortest packet': join(hex('0011223344556677'), hex('0001 0001 04')),
      'a packet as long as they may be': Buffer.alloc(500, 0x22),
    },
    greeting: null,
    never: { ...tooLong, ...nothing, 'twelve bytes': zeros(12), '501 bytes': zeros(501) },
  },
  'game-rust': {
    ports: { 4: 28_015, 6: 28_015 },
    datagrams: {
      ...rakNet,
      ...questions,
      // Steam's networking pads what comes before a connection to 512 bytes.
      'a challenge request of Steam': join(hex('20 1a00'), Buffer.alloc(509, 0x0d)),
      'a packet of Steam as long as they may be': Buffer.alloc(1_300, 0x80),
    },
    greeting: null,
    never: { ...tooLong, ...nothing, 'four bytes': outOfBand },
  },
  'game-udp': {
    ports: { 4: 7_777, 6: 7_777 },
    datagrams: { 'one byte': hex('00'), 'a packet of 1400 bytes': Buffer.alloc(1_400, 1) },
    greeting: null,
    never: nothing,
  },
};

/** In IPv6 a packet has 20 bytes less for the same. */
export function fits(family: 4 | 6, datagram: Buffer): boolean {
  return family === 4 || datagram.length <= 1_452;
}
