import type { Providers } from '../adapters/gateway/index.ts';
import type { Operator } from '../core/policy/index.ts';

/** Keys and addresses of model providers, as the gateway takes them. */
export const providersOf = ({ models }: Operator): Providers =>
  Object.fromEntries(
    Object.entries(models).map(([name, { custom, ...access }]) => [name, { ...access, official: !custom }]),
  );
