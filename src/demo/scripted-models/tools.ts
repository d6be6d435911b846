import { type Action, asList, asObject, type Call, type Json, type Tool } from './script.ts';

/**
 * The call that does the action with one of these tools, filled in as its schema wants; null when none can. Agents
 * name the same few tools differently; what is matched here is what claude-code 2.1, codex 0.169, opencode 1.18, pi
 * 0.87, gemini 0.61, copilot 1.0 and qwen 0.24 declare.
 */
export function callFor(action: Action, tools: readonly Tool[]): Call | null {
  const ways = action.do === 'write' ? [writeCall, patch, shell] : [shell];
  for (const way of ways) {
    for (const tool of tools) {
      const call = way(tool, action);
      if (call) return call;
    }
  }
  return null;
}

type Way = (tool: Tool, action: Action) => Call | null;

const writeCall: Way = (tool, action) => {
  if (action.do !== 'write' || !/write|create/i.test(tool.name)) return null;
  const path = property(tool, /^(file_?path|path|absolute_path|filename)$/i);
  const content = property(tool, /^(contents?|file_text)$/i);
  return path && content ? filled(tool, { [path]: action.path, [content]: action.content }) : null;
};

const patch: Way = (tool, action) => {
  if (action.do !== 'write' || tool.name !== 'apply_patch') return null;
  const lines = action.content.replace(/\n$/, '').split('\n');
  const text = [
    '*** Begin Patch',
    `*** Add File: ${action.path}`,
    ...lines.map((line) => `+${line}`),
    '*** End Patch',
  ].join('\n');
  if (tool.freeText) return toolCall(tool, { text });
  const field = property(tool, /patch|input/i);
  return field ? filled(tool, { [field]: text }) : null;
};

const shell: Way = (tool, action) => {
  const command = action.do === 'shell' ? action.command : printing(action);
  if (tool.freeText) {
    // Codex can be given one tool that runs JavaScript, from which the others are called.
    const source = `text(await tools.exec_command({ cmd: ${JSON.stringify(command)} }));`;
    return tool.name === 'exec' ? toolCall(tool, { text: source }) : null;
  }
  if (!/bash|shell|exec|command|terminal/i.test(tool.name)) return null;
  const field = property(tool, /^(command|cmd)$/);
  if (!field) return null;
  return filled(tool, { [field]: takesList(tool, field) ? ['bash', '-lc', command] : command });
};

/** A shell command that writes a file, whatever its text holds. */
function printing({ path, content }: Action & { do: 'write' }): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return `printf '%s' ${quoted(content)} > ${quoted(path)}`;
}

const property = (tool: Tool, name: RegExp): string | undefined =>
  Object.keys(asObject(tool.schema.properties)).find((key) => name.test(key));

function takesList(tool: Tool, field: string): boolean {
  const schema = asObject(asObject(tool.schema.properties)[field]);
  return [schema, ...asList(schema.anyOf)].some(({ type }) => type === 'array');
}

const toolCall = ({ name, namespace, freeText }: Tool, input: Call['input']): Call => ({
  tool: name,
  input,
  ...(freeText ? { freeText } : {}),
  ...(namespace ? { namespace } : {}),
});

/** The call with a value for every required field that the action says nothing about. */
function filled(tool: Tool, given: Json): Call {
  const { required, properties } = tool.schema;
  const missing = (Array.isArray(required) ? required : []).filter((key) => !(key in given));
  const rest = missing.map((key) => [key, anyValue(asObject(asObject(properties)[key]))] as const);
  return toolCall(tool, { ...given, ...Object.fromEntries(rest) });
}

function anyValue(schema: Json): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return 1;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return 'as scripted';
  }
}
