// What scripts print with.
// A function that is given the natives of natives.cc and returns globals; natives.cc lists them.
(native) => {
"use strict";

const kDepth = 4;
const kItems = 100;
const kText = 10000;
const named = /^[A-Za-z_$][\w$]*$/;

const errorText = (error) => {
  const head = `${error.name}: ${error.message}`;
  const stack = typeof error.stack === "string" ? error.stack.trimEnd() : "";
  return stack ? `${head}\n${stack}` : head;
};

const inspectItems = (value, depth, seen) => {
  const inner = (item) => inspect(item, depth + 1, seen);
  const items = [];
  let left = 0;
  const add = (make) => { if (items.length < kItems) items.push(make()); else left += 1; };
  if (Array.isArray(value) || ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    for (let at = 0; at < value.length && at < kItems; at += 1) items.push(inner(value[at]));
    left = Math.max(0, value.length - kItems);
  } else if (value instanceof Map) {
    for (const [key, item] of value) add(() => `${inner(key)} => ${inner(item)}`);
  } else if (value instanceof Set) {
    for (const item of value) add(() => inner(item));
  } else {
    for (const key of Object.keys(value)) {
      add(() => `${named.test(key) ? key : JSON.stringify(key)}: ${inner(value[key])}`);
    }
  }
  if (left > 0) items.push(`... ${left} more`);
  return items;
};

const inspectObject = (value, depth, seen) => {
  if (value instanceof Error) return errorText(value);
  if (value instanceof Date) return isNaN(value) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return "Promise {}";
  if (seen.includes(value)) return "[Circular]";
  const prototype = Object.getPrototypeOf(value);
  const maker = prototype === null ? "[null prototype]" : prototype.constructor?.name ?? "";
  const list = Array.isArray(value);
  if (depth >= kDepth) return list ? "[Array]" : `[${maker || "Object"}]`;
  seen.push(value);
  const items = inspectItems(value, depth, seen);
  seen.pop();
  const size = value instanceof Map || value instanceof Set ? `(${value.size})` : "";
  const head = maker === "Object" || list && maker === "Array" ? "" : `${maker}${size} `;
  const [open, close] = list || ArrayBuffer.isView(value) ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return `${head}${open}${close}`;
  const line = `${head}${open} ${items.join(", ")} ${close}`;
  if (line.length <= 76 && !line.includes("\n")) return line;
  const indent = "  ".repeat(depth + 1);
  return `${head}${open}\n${indent}${items.join(`,\n${indent}`)}\n${"  ".repeat(depth)}${close}`;
};

const inspect = (value, depth, seen) => {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > kText ? `${value.slice(0, kText)}...` : value);
    case "bigint": return `${value}n`;
    case "symbol": return value.toString();
    case "number": return Object.is(value, -0) ? "-0" : String(value);
    case "function":
      return /^class\b/.test(Function.prototype.toString.call(value))
        ? `[class ${value.name || "(anonymous)"}]` : `[Function: ${value.name || "(anonymous)"}]`;
    case "object": return value === null ? "null" : inspectObject(value, depth, seen);
    default: return String(value);
  }
};

const show = (value) => typeof value === "string" ? value : inspect(value, 0, []);

const format = (values) => {
  let at = 0;
  let head = "";
  if (values.length > 1 && typeof values[0] === "string" && values[0].includes("%")) {
    at = 1;
    head = values[0].replace(/%([sdifjoOc%])/g, (whole, kind) => {
      if (kind === "%") return "%";
      if (at >= values.length) return whole;
      const value = values[at++];
      switch (kind) {
        case "s": return typeof value === "object" ? show(value) : String(value);
        case "d": return typeof value === "bigint" ? `${value}n` : String(Number(value));
        case "i": return String(parseInt(value, 10));
        case "f": return String(parseFloat(value));
        case "j": return String(JSON.stringify(value));
        case "c": return "";
        default: return inspect(value, 0, []);
      }
    });
    if (at >= values.length) return head;
    head += " ";
  }
  return head + values.slice(at).map(show).join(" ");
};

const printer = (level) => (...values) => {
  if (native.logIsOpen()) native.print(level, format(values));
};
const counts = new Map();
const console = {
  debug: printer(0),
  log: printer(1),
  info: printer(1),
  dir: (value) => printer(1)(value),
  table: printer(1),
  warn: printer(2),
  error: printer(3),
  trace: (...values) => printer(0)("Trace:", ...values),
  assert: (holds, ...values) => { if (!holds) printer(3)("Assertion failed:", ...values); },
  count: (label = "default") => {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    printer(1)(`${label}: ${counts.get(label)}`);
  },
  group: printer(1),
  groupEnd: () => {},
  time: () => {},
  timeEnd: () => {},
};

return { console };
}
