const portSpeed = /^(\d{1,6})(m|g)bit$/;

/** A speed such as `1gbit`, in Mbit/s; null: it is none. */
export function readSpeed(text: string): number | null {
  const [, count, unit] = portSpeed.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (unit === 'g' ? 1_000 : 1);
}
