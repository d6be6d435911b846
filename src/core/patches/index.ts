export * from './patch.ts';
