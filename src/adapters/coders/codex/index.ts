export { codexCoder } from './coder.ts';
