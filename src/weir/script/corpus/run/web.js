export function main() { return new URL("../a?b#c", "http://x:81/d/e").searchParams.size + structuredClone(new Set([1])).size + new TextDecoder().decode(new TextEncoder().encode("é\ud800")) }
