export { METRICS } from './catalogue.ts';
export { type MetricsOptions, openMetrics } from './metrics.ts';
