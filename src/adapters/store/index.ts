export { openExecutors } from './executors.ts';
export { migrate } from './migrate.ts';
export { MIGRATIONS, type Migration } from './migrations/index.ts';
export { openStore, type StoreOptions } from './store.ts';
