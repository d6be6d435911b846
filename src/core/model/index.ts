export * from './bounded-buffer.ts';
export * from './child.ts';
export * from './concurrency.ts';
export * from './fault.ts';
export * from './json.ts';
export * from './lifecycle.ts';
export * from './queue.ts';
export * from './run.ts';
