import { Brief, type Question } from '../model/index.ts';
import { oneLine } from '../prompts/index.ts';

const TITLES = {
  goal: 'Goal',
  definitionOfDone: 'Done means',
  plan: 'Plan',
  assumptions: 'Assumptions',
  questions: 'Open questions',
} as const;
type Part = keyof typeof TITLES;

/** The brief as the text that critics debate: a fixed set of sections, one line for each statement. */
export function specOf(brief: Brief): string {
  const bullets = (lines: readonly string[]) => lines.map((line) => `- ${oneLine(line)}`);
  const parts: Readonly<Record<Part, readonly string[]>> = {
    // A goal may begin with a number of an issue, and is no heading then.
    goal: [oneLine(brief.goal).replace(/^[\\#]/, '\\$&')],
    definitionOfDone: bullets(brief.definitionOfDone),
    plan: bullets(brief.plan),
    assumptions: bullets(brief.assumptions),
    questions: bullets(brief.questions.map(questionLine)),
  };
  const sections = Object.entries(TITLES).map(([part, title]) => {
    const lines = parts[part as Part];
    return lines.length === 0 ? `## ${title}` : `## ${title}\n\n${lines.join('\n')}`;
  });
  return `${sections.join('\n\n')}\n`;
}

/**
 * The brief that a debated spec says. Null where the text is no longer one: a section gone or added, a statement outside
 * a list, something too long, a question that nobody asked. Questions that are gone from the text are settled.
 */
export function briefFrom(spec: string, brief: Brief): Brief | null {
  const sections = sectionsOf(spec);
  if (sections === null) return null;
  const lists = {
    definitionOfDone: listOf(sections.definitionOfDone),
    plan: listOf(sections.plan),
    assumptions: listOf(sections.assumptions),
    questions: listOf(sections.questions),
  };
  const { definitionOfDone, plan, assumptions } = lists;
  const questions = asked(lists.questions, brief.questions);
  if (!definitionOfDone || !plan || !assumptions || !questions) return null;
  const goal = oneLine(sections.goal.join(' ')).replace(/^\\([\\#])/, '$1');
  const parsed = Brief.safeParse({ ...brief, goal, definitionOfDone, plan, assumptions, questions });
  return parsed.success ? { ...brief, ...parsed.data } : null;
}

const questionLine = ({ severity, text }: Question): string => `(${severity}) ${text}`;

function asked(lines: readonly string[] | null, questions: readonly Question[]): Question[] | null {
  const known = new Map(questions.map((question) => [oneLine(questionLine(question)), question]));
  const found = lines?.map((line) => known.get(line));
  return found?.every((question) => question !== undefined) ? (found as Question[]) : null;
}

function sectionsOf(spec: string): Record<Part, string[]> | null {
  const parts = Object.keys(TITLES) as Part[];
  const found: Record<Part, string[]> = {
    goal: [],
    definitionOfDone: [],
    plan: [],
    assumptions: [],
    questions: [],
  };
  let at = -1;
  for (const line of spec.split('\n')) {
    if (line.startsWith('#')) {
      at += 1;
      const part = parts[at];
      if (part === undefined || line.trim() !== `## ${TITLES[part]}`) return null;
    } else if (line.trim() !== '') {
      const part = parts[at];
      if (part === undefined) return null;
      found[part].push(line);
    }
  }
  return at === parts.length - 1 ? found : null;
}

/** A line that begins no item goes on with the one before it. */
function listOf(lines: readonly string[]): string[] | null {
  const items: string[] = [];
  for (const line of lines) {
    const item = /^\s{0,3}(?:[-*]|\d{1,2}[.)])\s+(.*)$/.exec(line)?.[1];
    if (item !== undefined) items.push(oneLine(item));
    else if (items.length === 0) return null;
    else items.push(oneLine(`${items.pop()} ${line}`));
  }
  return items;
}
