export { BUILTIN_PATH, builtinCoder, bundleBuiltinCoder } from './builtin/index.ts';
export { coders } from './registry.ts';
