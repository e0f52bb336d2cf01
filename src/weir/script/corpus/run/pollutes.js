Object.prototype.x = 1; Promise.prototype.then = 1; export const main = class { constructor() {} }
