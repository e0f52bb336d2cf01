export function main() { while (true) {} }
