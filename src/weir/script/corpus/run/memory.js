export function main() { const a = []; while (true) a.push({}) }
