// Writes `src/generated.ts` from `schemas/` and `docs/protocol/reference.md`, which are themselves generated.
//
//   node generate.mjs            write the file
//   node generate.mjs --check    fail when it is stale

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);
const target = new URL("src/generated.ts", import.meta.url);

/** Returns every named type once. Each schema repeats the types it needs, so a name occurs in many files. */
function readTypes() {
  const types = new Map();
  const add = (name, schema, file) => {
    const known = types.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two different types are named \`${name}\`; the second is in schemas/${file}`);
    }
    types.set(name, schema);
  };
  for (const file of readdirSync(new URL("schemas/", root)).sort()) {
    const { $schema, $defs, title, ...schema } = JSON.parse(readFileSync(new URL(`schemas/${file}`, root), "utf8"));
    add(title, schema, file);
    for (const [name, definition] of Object.entries($defs ?? {})) add(name, definition, file);
  }
  return new Map([...types].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Reads the methods and notifications from the reference: names, scopes, texts and the names of their types. */
function readReference() {
  const page = readFileSync(new URL("docs/protocol/reference.md", root), "utf8");
  const scopes = new Map();
  for (const [, name, scope] of page.matchAll(/^\| \[`([^`]+)`\]\([^)]*\) \| (read|propose|write|spend|exec)(?:, \w+)? \|/gm)) {
    scopes.set(name, scope);
  }
  const methods = [];
  const notifications = [];
  for (const section of page.split(/^### /m).slice(1)) {
    const name = /^`([^`]+)`/.exec(section)?.[1];
    const typeOf = (title) => new RegExp(`^${title} \`(\\w+)\``, "m").exec(section)?.[1];
    const text = section.split("\n").slice(1).join("\n").split(/^(?:Params|Payload) `/m)[0].trim();
    const [params, result, payload] = ["Params", "Result", "Payload"].map(typeOf);
    if (params && result && scopes.has(name)) methods.push({ name, text, params, result, scope: scopes.get(name) });
    else if (payload) notifications.push({ name, text, payload });
    else throw new Error(`the section \`${name}\` of the reference is neither a method nor a notification`);
  }
  if (methods.length !== scopes.size) {
    throw new Error(`the reference lists ${scopes.size} methods and describes ${methods.length}`);
  }
  return { methods, notifications };
}

function comment(text, indent) {
  if (!text) return "";
  const lines = text.trim().replaceAll("*/", "* /").split("\n");
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** Returns a copy of the schema without the given members. */
const without = (schema, ...names) => Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)));

/** Returns the members of an object type, each with its comment. */
function members(schema, indent) {
  const inner = `${indent}  `;
  const lines = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const optional = schema.required?.includes(name) ? "" : "?";
    return `${comment(property.description, inner)}${inner}${key(name)}${optional}: ${typeOf(property, inner)};\n`;
  });
  if (schema.additionalProperties) lines.push(`${inner}[member: string]: unknown;\n`);
  return `{\n${lines.join("")}${indent}}`;
}

function union(options) {
  const all = [...new Set(options)];
  return all.includes("unknown") ? "unknown" : all.join(" | ");
}

/** Returns a union; if any option has a description, each option gets a line of its own. */
function alternatives(options, indent) {
  if (!options.some((option) => option.description)) return union(options.map((option) => typeOf(option, indent)));
  const inner = `${indent}  `;
  return options.map((option) => `\n${comment(option.description, inner)}${inner}| ${typeOf(option, inner)}`).join("");
}

function typeOf(schema, indent) {
  if (schema === true) return "unknown";
  if (schema === false) return "never";
  if (schema.$ref) return schema.$ref.replace("#/$defs/", "");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  const options = schema.oneOf ?? schema.anyOf;
  if (options) {
    const rest = without(schema, "oneOf", "anyOf", "description", "default");
    const chosen = alternatives(options, indent);
    return rest.properties ? `${members(rest, indent)} & (${chosen})` : chosen;
  }
  if (schema.allOf) return schema.allOf.map((part) => typeOf(part, indent)).join(" & ");
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, indent)));
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array": {
      const item = typeOf(schema.items ?? true, indent);
      return /^[\w"]+$/.test(item) ? `${item}[]` : `Array<${item}>`;
    }
    case "object":
      if (schema.properties) return members(schema, indent);
      return `Record<string, ${typeOf(schema.additionalProperties ?? true, indent)}>`;
    case undefined:
      return schema.properties ? members(schema, indent) : "unknown";
    default:
      throw new Error(`a schema has the unknown type \`${schema.type}\``);
  }
}

function declaration(name, schema) {
  const head = comment(schema.description, "");
  const isPlainObject = schema.type === "object" && schema.properties && !schema.oneOf && !schema.anyOf;
  if (isPlainObject) return `${head}export interface ${name} ${members(schema, "")}\n`;
  if (schema.type === "object" && !schema.oneOf && !schema.anyOf && !schema.additionalProperties) {
    return `${head}export type ${name} = Record<string, never>;\n`;
  }
  return `${head}export type ${name} = ${typeOf(schema, "")};\n`.replace("= \n", "=\n");
}

function generate() {
  const types = readTypes();
  const { methods, notifications } = readReference();
  for (const name of [...methods.flatMap(({ params, result }) => [params, result]), ...notifications.map((one) => one.payload)]) {
    if (!types.has(name)) throw new Error(`the reference names \`${name}\`, but no schema defines it`);
  }
  const rows = (all, row) => all.map((one) => `${comment(one.text, "  ")}  ${key(one.name)}: ${row(one)};\n`).join("");
  const reads = methods.filter(({ scope }) => scope === "read").map(({ name }) => `  ${JSON.stringify(name)},\n`);
  return `// Generated from \`schemas/\` and \`docs/protocol/reference.md\` by \`generate.mjs\`; do not edit.

${[...types].map(([name, schema]) => declaration(name, schema)).join("\n")}
/** Every method with its params and its result. */
export interface Methods {
${rows(methods, ({ params, result }) => `{ params: ${params}; result: ${result} }`)}}

/** Every notification with its payload. */
export interface Notifications {
${rows(notifications, ({ payload }) => payload)}}

/** Methods that only read, so that repeating a call is safe. */
export const READS: ReadonlySet<keyof Methods> = new Set<keyof Methods>([
${reads.join("")}]);
`;
}

const text = generate();
if (process.argv.includes("--check")) {
  let kept = "";
  try {
    kept = readFileSync(target, "utf8");
  } catch {
    // A missing file counts as stale.
  }
  if (kept !== text) {
    console.error("src/generated.ts is stale: run `node generate.mjs` in clients/typescript");
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
  console.log(`wrote ${fileURLToPath(target)}`);
}
