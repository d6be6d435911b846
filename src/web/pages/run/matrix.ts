import { tellsApart } from '../../../core/evidence/index.ts';
import type { Matrix, MatrixGroup, MatrixRow } from '../../../core/reports/index.ts';

/** Which rows to show: those with different results, those that a candidate fails, or all. */
export const MATRIX_FILTERS = ['differs', 'fails', 'all'] as const;
export type MatrixFilter = (typeof MATRIX_FILTERS)[number];

export interface MatrixQuery {
  readonly show: MatrixFilter;
  /** Part of a test's name, in any case; empty for all. */
  readonly text: string;
  /** 1-based. */
  readonly page: number;
}

export interface MatrixPage {
  readonly groups: readonly MatrixGroup[];
  /** 1-based; at least 1, and at most the last one. */
  readonly page: number;
  readonly pages: number;
  /** Rows that fit the query, and all. */
  readonly found: number;
  readonly total: number;
}

/** Rows of one page of the matrix. Our default: with a column for each of twelve candidates it is about 150 kB. */
const ROWS_ON_A_PAGE = 100;

export function matrixPage(
  { groups }: Pick<Matrix, 'groups'>,
  { show, text, page }: MatrixQuery,
  size = ROWS_ON_A_PAGE,
): MatrixPage {
  const wanted = text.trim().toLowerCase();
  const fits = ({ name, marks }: MatrixRow): boolean =>
    (show === 'all' || (show === 'fails' ? /[fm]/.test(marks.slice(1)) : tellsApart(marks))) &&
    (wanted === '' || name.toLowerCase().includes(wanted));
  const fitting = groups.map((group) => ({ ...group, rows: group.rows.filter(fits) }));
  const found = fitting.reduce((sum, { rows }) => sum + rows.length, 0);
  const pages = Math.max(1, Math.ceil(found / size));
  const current = Math.min(Math.max(1, page), pages);
  let before = (current - 1) * size;
  let room = size;
  const shown: MatrixGroup[] = [];
  for (const group of fitting) {
    const rows = group.rows.slice(before, before + room);
    before = Math.max(0, before - group.rows.length);
    room -= rows.length;
    if (rows.length > 0) shown.push({ ...group, rows });
  }
  const total = groups.reduce((sum, { rows, more }) => sum + rows.length + more, 0);
  return { groups: shown, page: current, pages, found, total };
}
