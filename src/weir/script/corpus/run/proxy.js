export function main() { const p = new Proxy({}, { get(t, k) { return k } }); const e = new Error("m", { cause: p }); e.stack = p; throw e }
