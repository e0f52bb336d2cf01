export async function main(x, y = `${x}`) { console.log(x, [y], new Map([[1, {}]])); return { x, y } }
