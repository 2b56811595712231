import {
  denyAt,
  flag,
  malformed,
  type Preset,
  type PresetRule,
  permitAt,
  ports,
  type RuleParts,
  tcp,
  udp,
  vectors,
} from './parts.ts';

/** UDP of a protocol: how many bytes its datagrams carry, and how many a second one source may send. */
interface Datagrams {
  least: number;
  most: number;
  perSecond: number;
}

interface Game {
  name: string;
  title: string;
  /** What it is, and the ports that it has unless somebody changes them. */
  about: string;
  ports: readonly number[];
  /** Where they are others in IPv6. */
  ports6?: readonly number[];
  udp: Datagrams;
  /** Whether the same ports are spoken to by TCP. */
  tcp: boolean;
  /** Where ports and lengths are from. */
  sources: string;
}

/**
 * Of our own choice: no protocol says how much a client sends at most. Clients send a packet for each step of the game, 20 to 128 a second, and
 * acknowledge what they get; eight of the busiest behind one address of a provider are within this.
 */
const busy = 1_000;
/** TeamSpeak's voice is a packet each 20 ms: ten who talk at once behind one address. */
const voice = 500;
/** A tool that asks how many play does so with two packets, every second or less. */
const query = 5;

/** Of our own choice as well: a list of servers opens one connection each, and Bukkit itself lets one address in each four seconds. */
const opening = { packets_per_second: 10, bits_per_second: null, per: 'source', burst: 30 } as const;
/** A download of 100 Mbit/s is acknowledged 4,300 times a second, one for each second segment. */
const connected = { packets_per_second: 5_000, bits_per_second: null, per: 'source', burst: 10_000 } as const;

const profiles: readonly Game[] = [
  {
    name: 'game-minecraft-java',
    title: 'Minecraft (Java)',
    about:
      'A Minecraft server for Java clients: TCP port 25565, and by UDP the questions of its query protocol.',
    ports: [25_565],
    udp: { least: 7, most: 15, perSecond: query },
    tcp: true,
    sources: 'https://wiki.vg/Server_List_Ping, https://wiki.vg/Query (requests of 7, 11 and 15 bytes)',
  },
  {
    name: 'game-minecraft-bedrock',
    title: 'Minecraft (Bedrock)',
    about: 'A Minecraft server for Bedrock clients, by RakNet: UDP port 19132, in IPv6 19133.',
    ports: [19_132],
    ports6: [19_133],
    // From an acknowledgement of one packet to the first question of a client, which is as long as packets may be (an MTU of 1492).
    udp: { least: 7, most: 1_464, perSecond: busy },
    tcp: false,
    sources: 'https://wiki.bedrock.dev/servers/raknet-and-mcpe.html, https://wiki.vg/Raknet_Protocol',
  },
  {
    name: 'game-source',
    title: 'Source engine',
    about:
      'A server of Counter-Strike, Team Fortress 2 and others: UDP ports 27015 and 27020. RCON by TCP is not touched.',
    ports: [27_015, 27_020],
    // From a question without a payload to a packet as long as they may be.
    udp: { least: 5, most: 1_400, perSecond: busy },
    tcp: false,
    sources:
      'https://developer.valvesoftware.com/wiki/Server_queries, https://developer.valvesoftware.com/wiki/Source_Dedicated_Server',
  },
  {
    name: 'game-fivem',
    title: 'FiveM and RedM',
    about: 'A server of Cfx.re: port 30120, by UDP for the game (ENet) and by TCP for what is downloaded.',
    ports: [30_120],
    // From a ping of ENet to its largest packet by default.
    udp: { least: 8, most: 1_400, perSecond: busy },
    tcp: true,
    sources:
      'https://docs.fivem.net/docs/server-manual/, https://github.com/lsalzman/enet (include/enet/protocol.h and enet.h)',
  },
  {
    name: 'game-teamspeak',
    title: 'TeamSpeak',
    about: 'A TeamSpeak server: UDP port 9987. Files and queries by TCP are not touched.',
    ports: [9_987],
    // From a header without a payload to a whole packet.
    udp: { least: 13, most: 500, perSecond: voice },
    tcp: false,
    sources: 'https://github.com/ReSpeak/tsdeclarations/blob/master/ts3protocol.md',
  },
  {
    name: 'game-rust',
    title: 'Rust',
    about:
      'A Rust server: UDP ports 28015 for the game, by RakNet or Steam, and 28017 for questions. RCON and Rust+ by TCP are not touched.',
    ports: [28_015, 28_017],
    // From a question without a payload to the largest packet of RakNet; Steam's have 7 to 1300 bytes.
    udp: { least: 5, most: 1_464, perSecond: busy },
    tcp: false,
    sources:
      'https://wiki.facepunch.com/rust/Creating-a-server, https://wiki.vg/Raknet_Protocol, https://developer.valvesoftware.com/wiki/Server_queries, https://github.com/ValveSoftware/GameNetworkingSockets',
  },
  {
    name: 'game-udp',
    title: 'Another game by UDP',
    about: 'A game whose server is reached by UDP at the ports that you name.',
    ports: [],
    // All but datagrams without a byte and those that do not fit into one packet.
    udp: { least: 1, most: 1_472, perSecond: busy },
    tcp: false,
    sources:
      'https://www.rfc-editor.org/rfc/rfc768, https://www.rfc-editor.org/rfc/rfc894 (packets of up to 1500 bytes)',
  },
];

/** One after the other: of rules with the same order the older one comes first. */
function step(action: 'permit' | 'deny', protocol: 6 | 17, parts: RuleParts): PresetRule {
  const nothing = { source: null, source_port: null, destination_port: null, matches: [], rate: null };
  return { action, protocol, order: permitAt, ...nothing, ...parts };
}

/** What stands before the bytes that a datagram carries. */
const headers = { 4: 28, 6: 48 } as const;
const longestPacket = 1_500;

function datagramRules(family: 4 | 6, at: RuleParts, { least, most, perSecond }: Datagrams): PresetRule[] {
  const range = {
    start: least + headers[family],
    end: Math.min(longestPacket, most + headers[family]),
  };
  const rate = {
    packets_per_second: perSecond,
    bits_per_second: null,
    per: 'source',
    burst: 2 * perSecond,
  } as const;
  return [
    // Nobody's client is at a port of the system's own (RFC 4787 has routers keep it so), but those that are made to reflect are.
    step('deny', udp, { ...at, source_port: { match_type: 'lt', match_value: [1_024] } }),
    step('deny', udp, { ...at, source_port: ports(...vectors.filter((port) => port >= 1_024)) }),
    step('permit', udp, { ...at, matches: [{ match: 'length', match_type: 'range', range }], rate }),
  ];
}

function connectionRules(at: RuleParts): PresetRule[] {
  return [
    ...malformed.map((matches) => step('deny', tcp, { ...at, matches })),
    step('permit', tcp, { ...at, matches: [flag('syn', true), flag('ack', false)], rate: opening }),
    step('permit', tcp, { ...at, matches: [flag('syn', false)], rate: connected }),
  ];
}

function rulesOf(game: Game): Preset['rules'] {
  return (family, ips, given) => {
    const at = { destination_port: ports(...given) };
    const protocols = game.tcp ? ([tcp, udp] as const) : ([udp] as const);
    return [
      ...ips.flatMap((source) => protocols.map((protocol) => step('permit', protocol, { ...at, source }))),
      // Of a packet in parts the later ones have no ports, and no game sends any.
      step('deny', udp, { matches: [{ match: 'fragments', match_type: 'eq', match_value: true }] }),
      ...datagramRules(family, at, game.udp),
      ...(game.tcp ? connectionRules(at) : []),
      ...protocols.map((protocol) => ({ ...step('deny', protocol, at), order: denyAt })),
    ];
  };
}

function descriptionOf({ about, udp: { least, most, perSecond }, tcp }: Game): string {
  const lets = `Lets in datagrams of ${least} to ${most} bytes, ${perSecond} a second from one source`;
  const connections = tcp
    ? `, and of TCP ${opening.packets_per_second} new connections a second from one source with up to ${connected.packets_per_second} packets a second`
    : '';
  return (
    `${about} ${lets}${connections}; drops what else comes to these ports, what comes to them from ports that are misused to reflect, ` +
    'and UDP in parts. Who sends from many sources just what the game sends is not told apart by rules.'
  );
}

/** A profile of each game that describes itself by the same numbers that its rules have. */
export const games: readonly Preset[] = profiles.map((game) => ({
  name: game.name,
  title: game.title,
  description: descriptionOf(game),
  ips: 'Are let in without limits, such as a proxy of yours',
  ports: (family) => (family === 6 ? (game.ports6 ?? game.ports) : game.ports),
  dated: null,
  sources: game.sources,
  rules: rulesOf(game),
}));
