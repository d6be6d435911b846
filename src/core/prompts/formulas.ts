import type { Omissions } from './omissions.ts';

/** A part of a line: text of the page, code, or a sign of Markdown that is ours. */
export interface Piece {
  readonly kind: 'text' | 'code' | 'sign';
  readonly text: string;
}

/** Commands of formulas that show what they are given, and no less. All others are left out with their formula. */
const SHOWN: ReadonlySet<string> = new Set(
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
/** Commands that take what is shown away, whatever stands around them. */
const HIDING =
  /\\(?:[hv]?phantom|color|textcolor|colorbox|fcolorbox|definecolor|tiny|scriptsize|scriptscriptstyle|scriptstyle|fontsize|h?space|hskip|mskip|kern|mkern|mspace|rule|[rl]lap|math[rcl]lap|smash|raise|lower|require|def|let|newcommand|renewcommand|newenvironment|class|style|cssId|href|url|unicode|bbox|mathchoice|tag|label|verb|clap|cancel|enclose|hide|transparent)(?![A-Za-z])/;
/** Scripts of scripts of scripts are as small as dust. */
const DEEP_SCRIPT = /[_^]\s*\{[^{}]*[_^]\s*\{[^{}]*[_^]\s*\{/;

/** Whether a formula shows all that is written in it. A comment in it does not show. */
export const isPlainFormula = (formula: string): boolean =>
  !formula.includes('%') &&
  !DEEP_SCRIPT.test(formula) &&
  !ENVIRONMENTS.test(formula) &&
  [...formula.matchAll(/\\([A-Za-z]+)/g)].every(([, name = '']) => SHOWN.has(name));

/** Stands for code among text, so that a formula does not begin in it. */
const CODE = '\ufffc';

/**
 * Pieces of a line without formulas that hide what is written in them. Where formulas begin and end is GitHub's to know: so
 * whatever stands between two dollar signs is looked at as one. `$` and code and `$` is one, too.
 */
export function withoutHiddenFormulas(pieces: readonly Piece[], omissions: Omissions): readonly Piece[] {
  const whole = pieces
    .map(({ kind, text }) => (kind === 'text' ? text : kind === 'code' ? CODE : ''))
    .join('');
  if (!whole.includes('$')) return pieces;
  const hidden = [...gapsOf(whole)].filter((gap) => isHiding(whole, gap));
  let at = 0;
  return pieces.map((piece) => {
    const from = at;
    at += piece.kind === 'text' ? piece.text.length : piece.kind === 'code' ? 1 : 0;
    if (piece.kind === 'sign') return piece;
    if (piece.kind === 'code')
      return formulaInCode(piece, whole.slice(Math.max(0, from - 1), at + 1), omissions);
    return { ...piece, text: cut(piece.text, from, hidden, omissions) };
  });
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** From each dollar sign to the next. */
function* gapsOf(text: string): Generator<Gap> {
  let from = text.indexOf('$');
  while (from >= 0) {
    const next = text.indexOf('$', from + 1);
    if (next < 0) return;
    yield { from, to: next + 1 };
    from = next;
  }
}

function isHiding(whole: string, { from, to }: Gap): boolean {
  const formula = whole.slice(from + 1, to - 1);
  if (HIDING.test(formula)) return true;
  // A formula does not begin or end with a blank, but between two dollar signs.
  const tight = /^\S(?:[\s\S]*\S)?$/.test(formula);
  const display = whole.charAt(from - 1) === '$' && whole.charAt(to) === '$';
  return (tight || display) && /[\\%_^{]/.test(formula) && !isPlainFormula(formula);
}

function formulaInCode(piece: Piece, around: string, omissions: Omissions): Piece {
  if (around !== `$${CODE}$` || isPlainFormula(piece.text)) return piece;
  return { kind: 'code', text: omissions.leave(piece.text.length) };
}

function cut(text: string, start: number, hidden: readonly Gap[], omissions: Omissions): string {
  let out = '';
  let at = 0;
  for (const { from, to } of hidden) {
    const [begin, end] = [Math.max(at, from - start), Math.min(text.length, to - start)];
    if (end <= begin) continue;
    out += text.slice(at, begin) + omissions.leave(end - begin);
    at = end;
  }
  return out + text.slice(at);
}
