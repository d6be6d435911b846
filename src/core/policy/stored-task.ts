import type { Task } from '../model/index.ts';
import { Settings } from './settings.ts';

const DEFAULTS = Settings.parse({});

/**
 * A task as it was stored: settings that came later have their defaults. They are not parsed, since they were frozen as
 * the version of that day understood them.
 */
export function storedTask(stored: Task): Task {
  return {
    ...stored,
    settings: filled(stored.settings, DEFAULTS) as Settings,
    lowered: stored.lowered ?? [],
  };
}

function filled(stored: unknown, byDefault: unknown): unknown {
  if (!isRecord(byDefault)) return stored ?? byDefault;
  const known = isRecord(stored) ? stored : {};
  const keys = Object.entries(byDefault).map(([key, value]) => [key, filled(known[key], value)]);
  return { ...known, ...Object.fromEntries(keys) };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
