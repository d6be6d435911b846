export { claudeCodeCoder } from './coder.ts';
