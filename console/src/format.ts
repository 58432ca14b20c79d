// Formats of times and numbers for people.

const absolute = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const longDay = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });

export const day = 86_400_000;
export const formatTime = (at: string) => absolute.format(new Date(at));
const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const minute = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const month = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric" });
export const formatClock = (at: string) => clock.format(new Date(at));

/** Formats a moment on an axis that spans so many milliseconds. */
export function formatDate(at: number, span: number): string {
  return (span <= 2 * day ? minute : span <= 200 * day ? short : month).format(at);
}

/** Formats a date with its weekday, and with Today or Yesterday. */
export function formatDay(at: Date): string {
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const start = new Date(at);
  start.setHours(0, 0, 0, 0);
  const days = Math.round((midnight.getTime() - start.getTime()) / day);
  const name = longDay.format(at);
  return days === 0 ? `Today, ${name}` : days === 1 ? `Yesterday, ${name}` : name;
}

/** Formats a duration: 3 min, 5 h, 12 days. */
export function formatSpan(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400).toLocaleString("en")} days`;
}

/** Returns the hours of a duration of the API: 1.5 for 1h30m. */
export function hoursOf(duration: string): number {
  const [, h = 0, m = 0, s = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(duration) ?? [];
  return Number(h) + Number(m) / 60 + Number(s) / 3600;
}

/** Formats a duration of the API in days if it is whole days: 168h is 7 days. */
export const formatDuration = (duration: string) => (hoursOf(duration) % 24 === 0 ? plural(hoursOf(duration) / 24, "day") : duration);

export function formatAge(at: string): string {
  const passed = Date.now() - new Date(at).getTime();
  if (passed < 0) return `in ${formatSpan(-passed)}`;
  return passed < 5000 ? "just now" : `${formatSpan(passed)} ago`;
}

export function formatPercent(percent: number): string {
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  if (percent > 99.9 && percent < 100) return "> 99.9 %";
  return `${Number(percent.toFixed(1))} %`;
}

export const plural = (count: number, one: string, many = one + "s") => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** Returns used/limit in percent, for numbers that may not fit a float. */
export function share(used: string | number, limit: string | number): number {
  const whole = BigInt(limit);
  return whole === 0n ? 100 : Number((BigInt(used) * 10000n) / whole) / 100;
}
