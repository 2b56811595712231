import type { fromJSON } from '@grpc/proto-loader';

/**
 * The few messages of gobgpd's gRPC interface that are used here, by their numbers on the wire, in the form of protobufjs. Of
 * each only the fields that are read or written; enumerations are their numbers.
 */

const field = (id: number, type: string) => ({ id, type });
const list = (id: number, type: string) => ({ id, type, rule: 'repeated' });
const message = (fields: Record<string, { id: number; type: string; rule?: string }>) => ({ fields });
const method = (requestType: string, responseType: string, stream: 'request' | 'response') => ({
  requestType,
  responseType,
  comment: '',
  ...(stream === 'request' ? { requestStream: true } : { responseStream: true }),
});

export const gobgpApi: Parameters<typeof fromJSON>[0] = {
  nested: {
    apipb: {
      nested: {
        GobgpApi: {
          methods: {
            AddPathStream: method('AddPathStreamRequest', 'Empty', 'request'),
            ListPath: method('ListPathRequest', 'ListPathResponse', 'response'),
            ListPeer: method('ListPeerRequest', 'ListPeerResponse', 'response'),
          },
        },
        Empty: message({}),
        Family: message({ afi: field(1, 'int32'), safi: field(2, 'int32') }),
        AddPathStreamRequest: message({ tableType: field(1, 'int32'), paths: list(3, 'Path') }),
        ListPathRequest: message({
          tableType: field(1, 'int32'),
          family: field(3, 'Family'),
          prefixes: list(4, 'TableLookupPrefix'),
          enableOnlyBinary: field(9, 'bool'),
        }),
        TableLookupPrefix: message({ prefix: field(1, 'string'), type: field(2, 'int32') }),
        ListPathResponse: message({ destination: field(1, 'Destination') }),
        Destination: message({ prefix: field(1, 'string'), paths: list(2, 'Path') }),
        Path: message({
          isWithdraw: field(5, 'bool'),
          family: field(9, 'Family'),
          sourceAsn: field(10, 'uint32'),
          isFromExternal: field(14, 'bool'),
          neighborIp: field(15, 'string'),
          nlriBinary: field(20, 'bytes'),
          pattrsBinary: list(21, 'bytes'),
        }),
        ListPeerRequest: message({ enableAdvertised: field(2, 'bool') }),
        ListPeerResponse: message({ peer: field(1, 'Peer') }),
        Peer: message({ state: field(5, 'PeerState'), afiSafis: list(10, 'AfiSafi') }),
        PeerState: message({
          messages: field(4, 'Messages'),
          neighborAddress: field(5, 'string'),
          peerAsn: field(6, 'uint32'),
          sessionState: field(13, 'int32'),
          adminState: field(15, 'int32'),
        }),
        Messages: message({ received: field(1, 'Message') }),
        Message: message({ notification: field(1, 'uint64') }),
        AfiSafi: message({ state: field(3, 'AfiSafiState') }),
        AfiSafiState: message({
          family: field(1, 'Family'),
          enabled: field(2, 'bool'),
          advertised: field(5, 'uint64'),
        }),
      },
    },
  },
};

export interface Family {
  afi: number;
  safi: number;
}

export interface Path {
  family: Family;
  nlriBinary: Buffer;
  pattrsBinary: Buffer[];
  isWithdraw?: boolean;
  neighborIp?: string;
}

export interface ListedDestination {
  prefix: string;
  paths: Path[];
}

export interface ListedPeer {
  state: {
    neighborAddress: string;
    peerAsn: number;
    sessionState: number;
    adminState: number;
    messages: { received: { notification: number } | null } | null;
  };
  afiSafis: { state: { family: Family; enabled: boolean; advertised: number } | null }[];
}

export const families = {
  unicast: { 4: { afi: 1, safi: 1 }, 6: { afi: 2, safi: 1 } },
  flow: { 4: { afi: 1, safi: 133 }, 6: { afi: 2, safi: 133 } },
  /** Keys and values that gobgpd keeps, and tells only whoever asked for this family. */
  notes: { afi: 16_397, safi: 241 },
} as const;
