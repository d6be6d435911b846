export * from './candidate.ts';
export * from './fault.ts';
export * from './run.ts';
