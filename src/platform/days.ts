/** Days are `YYYY-MM-DD` in UTC, whatever clock somebody lives by. */

export const msPerDay = 86_400_000;

/** The day of a moment. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** A day so many days later, or earlier. */
export function addDays(day: string, days: number): string {
  return dayOf(new Date(Date.parse(day) + days * msPerDay));
}

/** How many days lie between two: none from a day to itself. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / msPerDay);
}
