export { geminiCoder } from './coder.ts';
