export { copilotCoder } from './coder.ts';
