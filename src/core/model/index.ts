export * from './bounded-buffer.ts';
export * from './child.ts';
export * from './concurrency.ts';
export * from './fault.ts';
export * from './queue.ts';
export * from './run.ts';
export * from './surroundings.ts';
export * from './text.ts';
