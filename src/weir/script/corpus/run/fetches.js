export async function main() { const r = await fetch("http://127.0.0.1/x", { method: "POST", body: "b", headers: { a: "b" } }); return r.text() }
