/** A statement's text as PostgreSQL takes it, and the names of its parameters in the order of their numbers. */
export interface CompiledSql {
  text: string;
  names: readonly string[];
}

// What may hold a colon or a dollar and is no parameter: texts, quoted names, remarks, casts, `:=`.
const parts = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|::|:=|\$(\d+)|(?<!\w):([a-zA-Z]\w*)/g;

/** Gives each `:name` a number, the same name the same one. */
export function compileSql(name: string, sql: string): CompiledSql {
  const names: string[] = [];
  const text = sql.replace(parts, (part, position?: string, parameter?: string) => {
    if (position !== undefined)
      throw new Error(`${name} has a parameter $${position}: give it a name, as in \`id = :id\``);
    if (parameter === undefined) return part;
    if (!names.includes(parameter)) names.push(parameter);
    return `$${names.indexOf(parameter) + 1}`;
  });
  return { text, names };
}
