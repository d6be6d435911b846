export { runList } from './runs.ts';
