export { openTracer, type TracerOptions } from './tracer.ts';
