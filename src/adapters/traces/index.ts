export { openTracer } from './collector.ts';
export { openTraceFiles, prepareTraceFile } from './trace-files.ts';
