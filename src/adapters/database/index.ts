export { type EmbeddedPostgres, startEmbeddedPostgres } from './launcher.ts';
