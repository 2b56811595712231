import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type BootAnswer, type BootPlaces, bootScript } from './script.ts';

/** Whoever knows servers by their network cards. */
export interface BootDesk {
  places: BootPlaces;
  /** Files of the installer. */
  kernel: string;
  initrd: string;
  /** What the server with this MAC address (small letters, colons) is to start; a claim, since it can be copied. `from` is where it asks from. */
  answer(mac: string, from: string): Promise<BootAnswer>;
}

/** Answers iPXE, without TLS: `GET boot.ipxe?mac=…`, `GET kernel`, `GET initrd`. */
export function netbootHandler(desk: BootDesk) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = URL.parse(request.url ?? '/', 'http://x');
    const asked = request.method === 'GET' ? url?.pathname.split('/').at(-1) : null;
    if (asked === 'kernel' || asked === 'initrd') return sendFile(desk[asked], response);
    const mac = url?.searchParams.get('mac')?.toLowerCase() ?? '';
    if (asked !== 'boot.ipxe' || !/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(mac))
      return void response.writeHead(404).end();
    const from = request.socket.remoteAddress ?? '';
    const script = bootScript(await desk.answer(mac, from), desk.places);
    response.writeHead(200, { 'content-type': 'text/plain' }).end(script);
  };
}

async function sendFile(file: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-length': (await stat(file)).size });
  // A server that goes away in the middle comes again.
  await pipeline(createReadStream(file), response).catch(() => response.destroy());
}
