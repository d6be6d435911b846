export { openTracer } from './collector.ts';
export { openTraceFiles } from './trace-files.ts';
