export * from './decision.ts';
