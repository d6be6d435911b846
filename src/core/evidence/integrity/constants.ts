/** Literals, operators of two characters or words, and single characters. */
const TOKEN =
  /\s*(?:(\d[\d_]*(?:\.\d+)?)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`([^`$\\]*)`|([A-Za-z_$][\w$]*)|(===|!==|==|!=|<=|>=|&&|\|\||[-+*/%!<>()]))/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['null', null],
  ['nil', null],
  ['None', null],
  ['undefined', undefined],
]);
const OPERATORS: ReadonlyMap<string, string> = new Map([
  ['and', '&&'],
  ['or', '||'],
  ['not', '!'],
]);
/** Maximum characters of a condition that is evaluated. */
const MAX_CHARS = 200;

type ConditionToken = { readonly value: unknown } | { readonly operator: string };

/** Whether a condition that consists of literals holds, such as `1 > 2`; null if it contains anything else. */
export function constantTruth(text: string): boolean | null {
  const tokens = text.length > MAX_CHARS ? null : tokensIn(text);
  const result = tokens && evaluated(tokens);
  return result ? Boolean(result.value) : null;
}

function tokensIn(text: string): readonly ConditionToken[] | null {
  const tokens: ConditionToken[] = [];
  const pattern = new RegExp(TOKEN);
  const end = text.trimEnd().length;
  while (pattern.lastIndex < end) {
    const match = pattern.exec(text);
    if (!match) return null;
    const [, number, double, single, template, word, operator] = match;
    const quoted = double ?? single ?? template;
    if (number !== undefined) tokens.push({ value: Number(number.replaceAll('_', '')) });
    else if (quoted !== undefined) tokens.push({ value: quoted });
    else if (word !== undefined && WORDS.has(word)) tokens.push({ value: WORDS.get(word) });
    else {
      const found = operator ?? OPERATORS.get(word ?? '');
      if (found === undefined) return null;
      tokens.push({ operator: found });
    }
  }
  return tokens.length > 0 ? tokens : null;
}

/** Weakest first; each level binds to the left. */
const LEVELS: readonly ReadonlySet<string>[] = [
  new Set(['||']),
  new Set(['&&']),
  new Set(['==', '===', '!=', '!==']),
  new Set(['<', '>', '<=', '>=']),
  new Set(['+', '-']),
  new Set(['*', '/', '%']),
];

/** Null if the tokens are no expression. */
function evaluated(tokens: readonly ConditionToken[]): { readonly value: unknown } | null {
  let at = 0;
  const operatorHere = (): string => {
    const token = tokens[at];
    return token && 'operator' in token ? token.operator : '';
  };
  const single = (): { readonly value: unknown } | null => {
    const operator = operatorHere();
    if (operator === '') return (tokens[at++] as { readonly value: unknown } | undefined) ?? null;
    at++;
    if (operator === '(') {
      const inner = level(0);
      if (operatorHere() !== ')') return null;
      at++;
      return inner;
    }
    const inner = operator === '!' || operator === '-' ? single() : null;
    return inner && { value: operator === '!' ? !inner.value : -Number(inner.value) };
  };
  const level = (depth: number): { readonly value: unknown } | null => {
    const operators = LEVELS[depth];
    if (!operators) return single();
    let left = level(depth + 1);
    while (left && operators.has(operatorHere())) {
      const operator = operatorHere();
      at++;
      const right = level(depth + 1);
      left = right && { value: applied(operator, left.value, right.value) };
    }
    return left;
  };
  const result = level(0);
  return at === tokens.length ? result : null;
}

function applied(operator: string, left: unknown, right: unknown): unknown {
  const [a, b] = [Number(left), Number(right)];
  switch (operator) {
    case '||':
      return left || right;
    case '&&':
      return left && right;
    case '==':
    case '===':
      return left === right;
    case '!=':
    case '!==':
      return left !== right;
    case '<':
      return a < b;
    case '>':
      return a > b;
    case '<=':
      return a <= b;
    case '>=':
      return a >= b;
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    default:
      return a % b;
  }
}
