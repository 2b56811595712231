import type { ServerChoice, ServerOfService } from '../fleet/index.ts';

/**
 * How fast the port of another server of a service has to be, in Mbit/s; null: as it may be. Where no profile said a speed when its server was taken, the one that was
 * ordered was a price and chose nothing, whatever profiles say since.
 */
export function soldSpeed(
  { portMbps: ordered }: Pick<ServerChoice, 'portMbps'>,
  server: Pick<ServerOfService, 'soldPortMbps'> | null,
): number | null {
  return ordered === null || server === null ? ordered : server.soldPortMbps;
}
