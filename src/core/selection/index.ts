export * from './answer.ts';
export * from './request.ts';
export { type SelectOptions, selectStored } from './stored.ts';
