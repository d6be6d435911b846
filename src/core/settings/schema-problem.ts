import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** How messages of the library begin, where a schema has no words of its own. */
const UNWORDED = /^(?:Invalid |Too (?:small|big)|Unrecognized key)/;

/** What a schema says of a value, as a clause after its name, without a full stop: `must be at least 1`. */
export const schemaProblem = (issue: Issue): string =>
  UNWORDED.test(issue.message) ? wordedProblem(issue) : issue.message.replace(/(?<=[^.])\.$/, '');

function wordedProblem(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeProblem(issue);
    case 'too_small':
      return sizeProblem(
        issue.origin,
        Number(issue.minimum),
        issue.inclusive === false ? 'more than' : 'at least',
      );
    case 'too_big':
      return sizeProblem(
        issue.origin,
        Number(issue.maximum),
        issue.inclusive === false ? 'less than' : 'at most',
      );
    case 'invalid_value':
      return `must be ${alternatives(issue.values.map((value) => `\`${String(value).slice(0, MAX_VALUE)}\``))}`;
    case 'invalid_union':
      return unionProblem(issue);
    case 'unrecognized_keys':
      return `has a key that is not known: ${issue.keys.map((key) => `\`${key.slice(0, MAX_VALUE)}\``).join(', ')}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_key':
      return 'has a key that is not allowed';
    default:
      return 'does not have the right form';
  }
}

/** Maximum UTF-16 units of a value or key that is named. */
const MAX_VALUE = 60;

const TYPE_LABELS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: '`true` or `false`',
  int: 'a whole number',
  null: 'nothing',
  number: 'a number',
  object: 'a group of keys and values',
  record: 'a group of keys and values',
  string: 'a text',
  undefined: 'nothing',
};

/** What a value is, such as `a list`, after “not”; empty if the message of an issue does not say it. */
export function receivedType({ message }: Issue): string {
  const type = /received (\w+)$/.exec(message)?.[1];
  return type === undefined ? '' : (TYPE_LABELS[type] ?? `a ${type}`);
}

function typeProblem(issue: Extract<Issue, { code: 'invalid_type' }>): string {
  const { expected, message } = issue;
  if (message.endsWith('received undefined')) return 'is missing';
  if (message.endsWith('received null')) return 'is empty: write a value, or remove the key';
  const received = receivedType(issue);
  if (expected === 'array') return 'must be a list, such as [a, b]';
  const wanted = TYPE_LABELS[expected] ?? `a ${expected}`;
  if (expected === 'int' && received === TYPE_LABELS.number) return `must be ${wanted}`;
  const quotes =
    wanted.endsWith('number') && received === TYPE_LABELS.string
      ? '; write it in digits, without quotes'
      : '';
  return `must be ${wanted}${received === '' ? '' : `, not ${received}`}${quotes}`;
}

function sizeProblem(of: string, size: number, than: string): string {
  if (of === 'string') {
    if (size === 1 && than === 'at least') return 'must not be empty';
    return `must have ${than} ${size} ${size === 1 ? 'character' : 'characters'}`;
  }
  if (of === 'array' || of === 'set' || of === 'map')
    return `must have ${than} ${size} ${size === 1 ? 'entry' : 'entries'}`;
  return `must be ${than} ${size}`;
}

/** The types of the forms that a value may have, if each form is of another type. */
function unionProblem({ errors }: Extract<Issue, { code: 'invalid_union' }>): string {
  const types = errors.flatMap(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0
      ? [TYPE_LABELS[first.expected] ?? first.expected]
      : [],
  );
  return types.length === errors.length && types.length > 0
    ? `must be ${alternatives([...new Set(types)])}`
    : 'does not have one of the forms that are accepted';
}

const alternatives = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
