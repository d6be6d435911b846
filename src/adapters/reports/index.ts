export { readTestReport } from './read.ts';
