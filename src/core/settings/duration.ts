import { z } from 'zod';

/** Seconds; timers end at 24 days. */
const MAX_DURATION_SECONDS = 168 * 3600;

/** `90s`, `30m` or `2h`, in seconds. */
export const seconds = () =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}(s|m|h)$/, 'write a whole number and a unit: 90s, 30m or 2h')
    .transform(
      (text) => Number.parseInt(text, 10) * { s: 1, m: 60, h: 3600 }[text.slice(-1) as 's' | 'm' | 'h'],
    )
    .refine((length) => length <= MAX_DURATION_SECONDS, { error: 'at most a week: 168h' });

/** The same with a default. */
export const duration = (fallback: string) => seconds().prefault(fallback);
