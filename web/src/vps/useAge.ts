import { useEffect, useState } from 'react';

/** Seconds since a moment of this browser's clock, counting; null while there is none. */
export function useAge(since: number | null): number | null {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (since === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [since]);
  return since === null ? null : Math.max(1, Math.round((now - since) / 1_000));
}
