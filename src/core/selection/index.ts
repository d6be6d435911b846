export * from './stored.ts';
export { type SelectOptions, selectStored } from './stored.ts';
