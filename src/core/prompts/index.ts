export {
  block,
  oneLine,
  type VisibleText,
  visibleMarkdown,
  visiblePlain,
  visibleTask,
} from './rendered-text.ts';
