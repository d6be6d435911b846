export type { Action, Script, Scripts, TokenCounts, Turn } from './script.ts';
export { type ScriptedModels, type SeenRequest, startScriptedModels } from './server.ts';
