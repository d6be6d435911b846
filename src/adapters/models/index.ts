export { openModel } from './model.ts';
