import { Type } from 'typebox';
import { Choice, named, Timestamp } from '../platform/http/index.ts';

export const SerialConsole = named(
  'SerialConsole',
  Type.Object({
    type: Choice(['serial']),
    wss_url: Type.String({ description: 'WebSocket of raw bytes; works once' }),
    expires_at: Timestamp,
  }),
  'Where the serial line of a server waits for you',
);
