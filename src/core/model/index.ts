export * from './bounded-buffer.ts';
export * from './concurrency.ts';
export * from './fault.ts';
export * from './queue.ts';
export * from './run.ts';
export * from './surroundings.ts';
export * from './system-errors.ts';
export * from './text.ts';
