export { openUnguarded, type UnguardedOptions } from './unguarded.ts';
