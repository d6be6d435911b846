import type { Operator } from '../core/policy/index.ts';
import type { World } from '../runs/index.ts';
import type { WebOptions } from '../server/index.ts';

/** /metrics of a web server, for whoever has the operator's token; without one there is no such page. */
export function figuresOf(
  { metricsToken: token }: Operator,
  { metrics }: World,
): Pick<WebOptions, 'figures'> {
  return token && metrics ? { figures: { token, exposition: () => metrics.exposition() } } : {};
}
