export type { Action, Figures, Script, Scripts, Turn } from './script.ts';
export {
  type ScriptedModels,
  type ScriptedModelsOptions,
  type SeenRequest,
  startScriptedModels,
} from './server.ts';
