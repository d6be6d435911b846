import type pg from 'pg';

/** One table as both databases have it. Names come from the catalogue and are quoted there. */
export interface TableColumns {
  /** Quoted, with its schema. */
  readonly name: string;
  /** Quoted; without those that the server computes. */
  readonly columns: readonly string[];
}

/** What a move copies: our tables, and the engine's. */
export const SCHEMAS = ['runoff', 'dbos'] as const;

/** Written by the migrations of each database itself, and compared instead of copied. */
export const VERSION_TABLES: ReadonlySet<string> = new Set(['runoff.migration', 'dbos.dbos_migrations']);

/** All tables, those that others refer to first. */
export async function listTables(client: pg.ClientBase): Promise<readonly TableColumns[]> {
  const { rows } = await client.query<TableColumns>(
    `select format('%I.%I', n.nspname, c.relname) as name,
            array_agg(format('%I', a.attname) order by a.attname)
              filter (where a.attgenerated = '') as columns
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname = any($1) and c.relkind = 'r'
     group by 1 order by 1`,
    [SCHEMAS],
  );
  const references = await client.query<{ from: string; to: string }>(
    `select format('%I.%I', fn.nspname, f.relname) as from, format('%I.%I', tn.nspname, t.relname) as to
     from pg_constraint k
     join pg_class f on f.oid = k.conrelid join pg_namespace fn on fn.oid = f.relnamespace
     join pg_class t on t.oid = k.confrelid join pg_namespace tn on tn.oid = t.relnamespace
     where k.contype = 'f' and fn.nspname = any($1) and k.conrelid <> k.confrelid`,
    [SCHEMAS],
  );
  return referredFirst(rows, references.rows);
}

function referredFirst(
  tables: readonly TableColumns[],
  references: readonly { readonly from: string; readonly to: string }[],
): readonly TableColumns[] {
  const left = [...tables];
  const ordered: TableColumns[] = [];
  while (left.length > 0) {
    const waits = ({ name }: TableColumns) =>
      references.some(({ from, to }) => from === name && left.some((other) => other.name === to));
    // In a circle nobody is first; constraints that can wait for the end do so, the others say so themselves.
    const next = left.find((table) => !waits(table)) ?? left[0];
    if (next === undefined) break;
    ordered.push(next);
    left.splice(left.indexOf(next), 1);
  }
  return ordered;
}

/** Rows as one JSON text each: exact for every type, and never read by this program. */
const asJson = ({ name, columns }: TableColumns): string =>
  `select row_to_json(one)::text as row from (select ${columns.join(', ')} from only ${name}) one`;

interface TableSum {
  readonly rows: number;
  /** Of all rows in any order. */
  readonly checksum: string;
}

export async function tableSum(client: pg.ClientBase, table: TableColumns): Promise<TableSum> {
  const { rows } = await client.query<TableSum>(
    `select count(*)::float8 as rows,
            coalesce(sum(('x' || left(md5(row), 15))::bit(60)::bigint), 0)::text as checksum
     from (${asJson(table)}) every`,
  );
  return rows[0] ?? { rows: 0, checksum: '0' };
}

/** `except`: a condition for rows that do not count. */
export async function hasRows(client: pg.ClientBase, name: string, except = 'false'): Promise<boolean> {
  const { rows } = await client.query<{ some: boolean }>(
    `select exists (select from ${name} where not (${except})) as some`,
  );
  return rows[0]?.some ?? false;
}

/** Rows under way at a time; one is at most some 64 KiB. Our default. */
const BATCH_ROWS = 200;

/** Copies all rows; both clients are in a transaction. */
export async function copyTable(
  from: pg.ClientBase,
  to: pg.ClientBase,
  table: TableColumns,
  onRows: (count: number) => void,
): Promise<void> {
  const { name, columns } = table;
  const list = columns.join(', ');
  await from.query(`declare moved no scroll cursor for ${asJson(table)}`);
  for (;;) {
    const { rows } = await from.query<{ row: string }>(`fetch ${BATCH_ROWS} from moved`);
    if (rows.length === 0) break;
    await to.query(
      `insert into ${name} (${list}) overriding system value
       select ${list} from json_populate_recordset(null::${name}, $1::json)`,
      [`[${rows.map(({ row }) => row).join(',')}]`],
    );
    onRows(rows.length);
  }
  await from.query('close moved');
}

/** Numbers go on where they stood. */
export async function copySequences(from: pg.ClientBase, to: pg.ClientBase): Promise<void> {
  const { rows } = await from.query<{ name: string }>(
    `select format('%I.%I', schemaname, sequencename) as name from pg_sequences where schemaname = any($1)`,
    [SCHEMAS],
  );
  for (const { name } of rows) {
    const found = await from.query<{ last: string; called: boolean }>(
      `select last_value::text as last, is_called as called from ${name}`,
    );
    await to.query('select setval($1, $2::bigint, $3)', [name, found.rows[0]?.last, found.rows[0]?.called]);
  }
}
