import type { CoderSetting } from '../policy/index.ts';

/** Agents × models as somebody listed them, taken in turn until both lists have been used up. Models alone are the built-in agent's. */
export function codersOf(
  agents: readonly string[] | undefined,
  models: readonly string[] = [],
): readonly CoderSetting[] {
  const names = agents?.length ? agents : models.length > 0 ? ['builtin'] : [];
  return Array.from({ length: Math.max(names.length, models.length) }, (_, i) => {
    const model = models[i % Math.max(models.length, 1)];
    return { agent: names[i % names.length] ?? 'builtin', ...(model ? { model } : {}) };
  });
}
