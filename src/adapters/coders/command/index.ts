export { commandCoder } from './coder.ts';
export { namedCoder } from './named.ts';
