export { opencodeCoder } from './coder.ts';
