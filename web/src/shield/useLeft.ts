import { useEffect, useState } from 'react';

/** How many seconds are left of so many that were left at a moment of this browser's clock, running down to none. */
export function useLeft(seconds: number, at: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil(seconds - (now - at) / 1_000));
}
