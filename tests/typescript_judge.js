// What TypeScript's own compiler makes of texts: the judge of src/weir/script/strip_types_test.cc.
//
//   node typescript_judge.js TYPESCRIPT_FOLDER LIST
//
// LIST holds a line "from<TAB>to" for each text. A text that the compiler refuses ends in failure.
"use strict";
const fs = require("fs");
const path = require("path");

const [folder, list] = process.argv.slice(2);
const ts = require(path.join(folder, "lib/typescript.js"));
const compilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  removeComments: true,
};
let refused = 0;
for (const line of fs.readFileSync(list, "utf8").split("\n").filter(Boolean)) {
  const [from, to] = line.split("\t");
  const made = ts.transpileModule(fs.readFileSync(from, "utf8"),
    { fileName: "script.ts", reportDiagnostics: true, compilerOptions });
  for (const { messageText } of made.diagnostics) {
    console.error(`${from}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`);
    refused += 1;
  }
  fs.writeFileSync(to, made.outputText);
}
process.exit(refused === 0 ? 0 : 1);
