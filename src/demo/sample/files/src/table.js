/**
 * Turns rows into objects, with the first row as the names of the columns.
 * @param {string[][]} rows
 * @returns {Record<string, string>[]}
 */
export function toRecords(rows) {
  const [header, ...body] = rows;
  if (!header) return [];
  const names = header.map((name) => name.toLowerCase());
  return body.map((cells, index) => {
    if (cells.length !== names.length) {
      throw new Error(`row ${index + 2} has ${cells.length} cells, expected ${names.length}`);
    }
    return Object.fromEntries(names.map((name, column) => [name, cells[column]]));
  });
}
