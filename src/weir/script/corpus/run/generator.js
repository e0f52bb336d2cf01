export async function* main() { yield* [1n, Symbol.iterator] } await 0
