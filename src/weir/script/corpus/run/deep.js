export function main() { return main() }
