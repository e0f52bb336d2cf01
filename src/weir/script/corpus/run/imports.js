import a from "b"; export { a as main }
