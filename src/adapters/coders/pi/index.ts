export { piCoder } from './coder.ts';
