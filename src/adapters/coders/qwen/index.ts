export { qwenCoder } from './coder.ts';
