// Loads tree-sitter and its grammars from the toolchain's folder, each when a file needs it.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../grammars/', import.meta.url));
/** Milliseconds of processor time for one file and for all; what takes longer gets no answer. Our defaults. */
const FILE_MS = 3_000;
const ALL_MS = 20_000;
/** 512 MiB in pages of 64 KiB: hostile text makes a parser keep very many readings at once. */
const MEMORY = { initial: 512, maximum: 8_192 };

const spentMs = () => process.threadCpuUsage().user / 1_000;

/** A runtime of its own, since one whose memory was full or broken cannot be used again. */
async function openRuntime(folder) {
  const require = createRequire(import.meta.url);
  const path = join(folder, 'tree-sitter.js');
  delete require.cache[require.resolve(path)];
  const { Parser, Language } = require(path);
  await Parser.init({
    wasmMemory: new WebAssembly.Memory(MEMORY),
    print: () => undefined,
    printErr: () => undefined,
  });
  const parsers = new Map();
  return async (grammar) => {
    const known = parsers.get(grammar);
    if (known) return known;
    const parser = new Parser();
    parser.setLanguage(await Language.load(join(folder, `tree-sitter-${grammar}.wasm`)));
    parsers.set(grammar, parser);
    return parser;
  };
}

const isLimit = (thrown) => thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError;

/**
 * `read` parses a text by a grammar and returns what `look(tree, isOver)` makes of the tree; null when there is no
 * answer, because the text was too much for the parser or `look` gave up.
 */
export function openGrammars(folder = FOLDER, allMs = ALL_MS) {
  let runtime = null;
  let spent = 0;
  return {
    async read(grammar, text, look) {
      if (spent > allMs) return null;
      const start = spentMs();
      runtime ??= await openRuntime(folder);
      const parser = await runtime(grammar);
      const parsing = spentMs();
      const isOver = () => spentMs() - parsing > FILE_MS;
      try {
        const tree = parser.parse(text, null, { progressCallback: isOver });
        if (tree === null) {
          parser.reset();
          return null;
        }
        const found = look(tree, isOver);
        tree.delete();
        return found;
      } catch (thrown) {
        if (!isLimit(thrown)) throw thrown;
        runtime = null;
        return null;
      } finally {
        spent += spentMs() - start;
      }
    },
  };
}
