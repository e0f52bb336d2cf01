export async function main() { await new Promise((k) => setTimeout(k, 3)); setInterval(() => {}, 0); await new Promise(() => {}) }
