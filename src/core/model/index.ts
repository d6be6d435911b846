export * from './child.ts';
export * from './fault.ts';
export * from './json.ts';
export * from './label.ts';
export * from './protocol.ts';
export * from './run.ts';
