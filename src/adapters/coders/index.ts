export { ACP_PATH } from './acp/index.ts';
export { BUILTIN_PATH, builtinCoder, bundleBuiltinCoder } from './builtin/index.ts';
export { AGENTS, type InstallableAgent } from './catalogue.ts';
export { type Installed, type InstallRequest, installAgent, installable } from './install.ts';
export { npmInstall } from './npm.ts';
export { type CoderOptions, coders, installCoderPrograms } from './registry.ts';
