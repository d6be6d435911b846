export { openExecutors } from './executors.ts';
export { MIGRATIONS, type Migration, migrate } from './migrations/index.ts';
export { openStore, type StoreOptions } from './store.ts';
