export { openAccess } from './access.ts';
