export type { Action, Figures, Script, Scripts, Turn } from './script.ts';
export { type ScriptedModels, type SeenRequest, startScriptedModels } from './server.ts';
