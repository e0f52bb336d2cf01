export function main() { throw { toString() { throw 1 } } }
