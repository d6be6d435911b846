export { bundleBuiltinCoder } from './bundle.ts';
export { BUILTIN_PATH, builtinCoder } from './coder.ts';
