import { counted } from '../model/index.ts';

/** Replaces text that was left out. */
const OMISSION_MARK = '(…)';
/** Replaces an image. */
const IMAGE_MARK = '(image)';

/** Counts what is removed from a text because its page does not show it, and images, which models do not see. */
export class Omissions {
  #passages = 0;
  #length = 0;
  #images = 0;
  #invisible = 0;
  readonly #named = new Set<string>();

  /** Counts a removed passage of `length` UTF-16 units; ignores empty ones. Returns its replacement. */
  omit(length: number): string {
    if (length <= 0) return '';
    this.#passages += 1;
    this.#length += length;
    return OMISSION_MARK;
  }

  /** Counts an image, whose description and address are removed. */
  omitImage(): string {
    this.#images += 1;
    return IMAGE_MARK;
  }

  /** Removes and counts invisible characters. */
  withoutInvisible(text: string): string {
    const { text: plain, characters, count } = removeInvisible(text);
    this.#invisible += count;
    for (const character of characters) this.#named.add(character);
    return plain;
  }

  /** What models do not read, one sentence for each reason. */
  notes(): readonly string[] {
    const hidden = [
      ...(this.#passages > 0
        ? [
            `${counted(this.#passages, 'passage')} (${counted(this.#length, 'character')}; each place is marked ${OMISSION_MARK})`,
          ]
        : []),
      ...(this.#invisible > 0
        ? [`${counted(this.#invisible, 'invisible character')} (${this.#characters()})`]
        : []),
    ];
    return [
      ...(hidden.length > 0
        ? [`Left out, because the page does not show it: ${hidden.join(', and ')}.`]
        : []),
      ...(this.#images > 0 ? [imageNote(this.#images)] : []),
    ];
  }

  #characters(): string {
    const named = [...this.#named];
    return `${named.slice(0, MAX_CHARACTERS_NAMED).join(', ')}${named.length > MAX_CHARACTERS_NAMED ? ', …' : ''}`;
  }
}

const imageNote = (images: number): string =>
  images === 1
    ? `Not read: 1 image and its description (marked ${IMAGE_MARK}), because models get only text.`
    : `Not read: ${images} images and their descriptions (each marked ${IMAGE_MARK}), because models get only text.`;

/** Maximum characters that a note lists. */
const MAX_CHARACTERS_NAMED = 5;

/**
 * Invisible characters: format, bidirectional and tag characters, variation selectors, fillers, controls, and the
 * private use areas, whose characters have no standard shape.
 */
const INVISIBLE_CHARACTERS =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{f0000}-\u{10ffff}]/gu;

interface VisibleCharacters {
  readonly text: string;
  /** The removed characters, each once, as `U+200B`, in order of appearance. */
  readonly characters: readonly string[];
  readonly count: number;
}

/**
 * Removes invisible characters; replaces unusual blanks and line ends by plain ones. Does not spell them out in the
 * text, because that would pass on a message encoded in them.
 */
function removeInvisible(text: string): VisibleCharacters {
  const found: string[] = [];
  const plain = text
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
    .toWellFormed()
    .replace(INVISIBLE_CHARACTERS, (character) => {
      found.push(character);
      return '';
    })
    .replace(/\p{Zs}/gu, ' ');
  return { text: plain, characters: [...new Set(found)].map(codePointName), count: found.length };
}

const codePointName = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** A part of a line: visible text, code, or generated Markdown syntax. */
export interface Piece {
  readonly kind: 'text' | 'code' | 'sign';
  readonly text: string;
}

/** Formula commands that show all of their arguments. Formulas with other commands are left out. */
const VISIBLE_COMMANDS: ReadonlySet<string> = new Set(
  (
    'alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho sigma tau upsilon ' +
    'phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega frac dfrac tfrac sqrt sum prod ' +
    'int iint oint lim max min sup inf log ln exp sin cos tan arcsin arccos arctan sinh cosh tanh det gcd deg dim ker arg ' +
    'cdot cdots ldots dots vdots ddots times div pm mp le leq ge geq ne neq equiv approx sim simeq cong propto ll gg in ' +
    'notin ni subset subseteq supset supseteq cup cap setminus emptyset varnothing forall exists nexists neg lnot land lor ' +
    'wedge vee oplus otimes to gets rightarrow leftarrow Rightarrow Leftarrow leftrightarrow Leftrightarrow iff implies ' +
    'mapsto longrightarrow Longrightarrow uparrow downarrow infty partial nabla ell hbar Re Im aleph prime circ bullet ' +
    'star ast dagger angle perp parallel mid lfloor rfloor lceil rceil langle rangle lvert rvert lVert rVert vert Vert ' +
    'left right big Big bigg Bigg bigl bigr Bigl Bigr text textbf textit textrm texttt mathrm mathbf mathit mathsf mathtt ' +
    'mathbb mathcal mathfrak operatorname boldsymbol bm hat bar vec dot ddot tilde widehat widetilde overline underline ' +
    'binom dbinom tbinom choose pmod bmod mod stackrel overset underset substack begin end quad qquad limits nolimits displaystyle'
  ).split(' '),
);
const ENVIRONMENTS =
  /\\begin\s*\{(?!(?:p|b|B|v|V|small)?matrix\*?\}|aligned\}|align\*?\}|cases\}|array\}|gathered\}|split\}|equation\*?\})/;
/** Commands that hide content whatever surrounds them. */
const HIDING_COMMANDS =
  /\\(?:[hv]?phantom|color|textcolor|colorbox|fcolorbox|definecolor|tiny|scriptsize|scriptscriptstyle|scriptstyle|fontsize|h?space|hskip|mskip|kern|mkern|mspace|rule|[rl]lap|math[rcl]lap|smash|raise|lower|require|def|let|newcommand|renewcommand|newenvironment|class|style|cssId|href|url|unicode|bbox|mathchoice|tag|label|verb|clap|cancel|enclose|hide|transparent)(?![A-Za-z])/;
/** Deeper nested scripts are too small to read. */
const MAX_SCRIPT_DEPTH = 2;

/** Nesting depth of scripts in a formula, including the braces of a command that is a script (`_\text{…}`). */
function scriptDepth(formula: string): number {
  const open: boolean[] = [];
  let depth = 0;
  let deepest = 0;
  for (const [, before, brace] of formula.matchAll(/([_^]\s*(?:\\[A-Za-z]+\s*)?)?([{}])/g)) {
    if (brace === '{') {
      open.push(before !== undefined);
      depth += before === undefined ? 0 : 1;
    } else if (open.pop()) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Whether a formula shows everything written in it. Its comments are not shown. */
export const isPlainFormula = (formula: string): boolean =>
  !formula.includes('%') &&
  scriptDepth(formula) <= MAX_SCRIPT_DEPTH &&
  !ENVIRONMENTS.test(formula) &&
  [...formula.matchAll(/\\([A-Za-z]+)/g)].every(([, name = '']) => VISIBLE_COMMANDS.has(name));

/** Replaces code within text, so that no formula begins in it. */
const CODE_PLACEHOLDER = '\ufffc';

/**
 * Removes formulas that hide part of their source. Only GitHub knows where formulas begin and end, so everything
 * between two dollar signs is checked as one formula, also where code lies between them.
 */
export function withoutHiddenFormulas(pieces: readonly Piece[], omissions: Omissions): readonly Piece[] {
  const whole = pieces.map(({ kind, text }) => (kind === 'code' ? CODE_PLACEHOLDER : text)).join('');
  if (!whole.includes('$')) return pieces;
  // GitHub may treat Markdown syntax as a part of the formula or not, so both readings are checked.
  const signs = pieces.map(({ kind, text }) =>
    kind === 'code' ? ' ' : (kind === 'sign' ? '*' : ' ').repeat(text.length),
  );
  const isSign = signs.join('');
  const hidden = [...formulaRanges(whole)].filter(
    (range) => isHiding(whole, range) || isHiding(...withoutSigns(whole, isSign, range)),
  );
  let at = 0;
  return pieces.map((piece) => {
    const from = at;
    at += piece.kind === 'code' ? 1 : piece.text.length;
    if (piece.kind === 'sign') return piece;
    if (piece.kind === 'code')
      return formulaInCode(piece, whole.slice(Math.max(0, from - 1), at + 1), omissions);
    return { ...piece, text: omitRanges(piece.text, from, hidden, omissions) };
  });
}

/** No real text has more Markdown marks than this in a row. Default. */
const NEAR = 40;

/** The same formula, with one character on each side, without the characters that `isSign` marks with `*`. */
function withoutSigns(whole: string, isSign: string, { from, to }: FormulaRange): [string, FormulaRange] {
  const plain = (begin: number, end: number): string =>
    whole
      .slice(begin, end)
      .split('')
      .filter((_, at) => isSign[begin + at] !== '*')
      .join('');
  const before = plain(Math.max(0, from - NEAR), from).slice(-1);
  const formula = plain(from, to);
  const after = plain(to, to + NEAR).slice(0, 1);
  return [before + formula + after, { from: before.length, to: before.length + formula.length }];
}

interface FormulaRange {
  readonly from: number;
  readonly to: number;
}

/** Ranges from each dollar sign to the next. */
function* formulaRanges(text: string): Generator<FormulaRange> {
  let from = text.indexOf('$');
  while (from >= 0) {
    const next = text.indexOf('$', from + 1);
    if (next < 0) return;
    yield { from, to: next + 1 };
    from = next;
  }
}

function isHiding(whole: string, { from, to }: FormulaRange): boolean {
  const formula = whole.slice(from + 1, to - 1);
  if (HIDING_COMMANDS.test(formula)) return true;
  // A formula does not begin or end with a blank, unless it is between double dollar signs.
  const tight = /^\S(?:[\s\S]*\S)?$/.test(formula);
  const display = whole.charAt(from - 1) === '$' && whole.charAt(to) === '$';
  return (tight || display) && /[\\%_^{]/.test(formula) && !isPlainFormula(formula);
}

function formulaInCode(piece: Piece, around: string, omissions: Omissions): Piece {
  if (around !== `$${CODE_PLACEHOLDER}$` || isPlainFormula(piece.text)) return piece;
  return { kind: 'code', text: omissions.omit(piece.text.length) };
}

function omitRanges(
  text: string,
  start: number,
  hidden: readonly FormulaRange[],
  omissions: Omissions,
): string {
  let out = '';
  let at = 0;
  for (const { from, to } of hidden) {
    const [begin, end] = [Math.max(at, from - start), Math.min(text.length, to - start)];
    if (end <= begin) continue;
    out += text.slice(at, begin) + omissions.omit(end - begin);
    at = end;
  }
  return out + text.slice(at);
}

/** Addresses that GitHub shortens (`#12`, `owner/name@1a2b3c4`) or shows as a card, and the rest of the address. */
const SHORTENED_ADDRESS =
  /(https?:\/\/github\.com\/(?:[\w.-]+\/[\w.-]+\/(?:(?:issues|pull|discussions)\/\d+|commit\/[0-9a-f]{7,64}|(?:compare|blob|tree)\/[^\s<>?#"')\]]+)))([/?#][^\s<>"')\]]*)/gi;
/** Suffixes that GitHub itself appends to them. */
const GITHUB_ADDRESS_END =
  /^(?:\/(?:files|commits|checks))?\/?(?:#(?:issuecomment-|discussion_r|discussioncomment-|pullrequestreview-|event-|r)\d{1,12}|#L\d{1,7}(?:C\d{1,5})?(?:-L\d{1,7}(?:C\d{1,5})?)?|#diff-[0-9a-f]{32,64}(?:[LR]\d{1,7})?)?[.,;:!?]*$/;

/** Addresses of uploads, which GitHub shows as an image, a player or a name, and the rest of the address. */
const UPLOAD =
  /(https?:\/\/(?:github\.com\/(?:user-attachments\/(?:assets|files)|[\w.-]+\/[\w.-]+\/assets)|[\w-]*user-images\.githubusercontent\.com)\/)([^\s<>"')\]]+)/gi;
/** Names that GitHub gives to uploads: numbers, UUIDs and the file type. */
const UPLOAD_NAME =
  /^(?:[0-9a-f-]{1,60}(?:\/(?=[0-9a-f-])|(?=\.)|(?![\w-]))){1,3}(?:\.(?:mp4|mov|webm|png|jpe?g|gif|svg|webp))?/i;

/** Reduces addresses to the part that GitHub's short form shows. */
export const shownAddresses = (text: string, omissions: Omissions): string =>
  text
    .replace(SHORTENED_ADDRESS, (whole, address: string, end: string) =>
      GITHUB_ADDRESS_END.test(end) ? whole : address + omissions.omit(end.length),
    )
    .replace(UPLOAD, (whole, address: string, rest: string) => {
      const name = UPLOAD_NAME.exec(rest)?.[0] ?? '';
      const end = rest.slice(name.length);
      return /^[.,;:!?]*$/.test(end) ? whole : address + name + omissions.omit(end.length);
    });

/** Total columns of blanks in a line of code that push the rest out of any window. Default. */
const FAR_RIGHT = 160;
/** Minimum columns of a gap that counts; smaller gaps occur between ordinary words. Default. */
const MIN_GAP = 4;
/** GitHub's `tab-size` for code. */
const TAB = 8;

/** Removes the part of a line of code that its blanks push out of sight. */
export function withoutFarRight(line: string, omissions: Omissions): string {
  let [column, blanks, end] = [0, 0, 0];
  for (const { 0: part, index } of line.matchAll(/[ \t]+|[^ \t]+/g)) {
    if (/[^ \t]/.test(part)) {
      if (blanks >= FAR_RIGHT) return line.slice(0, end) + omissions.omit(line.slice(index).trim().length);
      column += part.length;
      end = index + part.length;
      continue;
    }
    const from = column;
    for (const blank of part) column += blank === '\t' ? TAB - (column % TAB) : 1;
    if (column - from >= MIN_GAP) blanks += column - from;
  }
  return line;
}
