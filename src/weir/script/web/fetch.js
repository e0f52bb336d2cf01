// Requests and their answers.
// A function that is given the natives of natives.cc and returns globals; natives.cc lists them.
(native) => {
"use strict";

const bytesOf = (value) => {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  throw new TypeError("wants an ArrayBuffer or a view of one");
};

const headerName = (name) => String(name).toLowerCase();
class Headers {
  #map = new Map();
  constructor(init) {
    if (init === undefined || init === null) return;
    const entries = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
    for (const [name, value] of entries) this.append(name, value);
  }
  append(name, value) {
    const key = headerName(name);
    const text = String(value).trim();
    this.#map.set(key, this.#map.has(key) ? `${this.#map.get(key)}, ${text}` : text);
  }
  set(name, value) { this.#map.set(headerName(name), String(value).trim()); }
  get(name) { return this.#map.get(headerName(name)) ?? null; }
  has(name) { return this.#map.has(headerName(name)); }
  delete(name) { this.#map.delete(headerName(name)); }
  forEach(each, that) { for (const [name, value] of this) each.call(that, value, name, this); }
  entries() { return [...this.#map].sort(([a], [b]) => a < b ? -1 : 1)[Symbol.iterator](); }
  *keys() { for (const [name] of this) yield name; }
  *values() { for (const [, value] of this) yield value; }
  [Symbol.iterator]() { return this.entries(); }
}

// Text or bytes to send, and the type to name where the caller names none.
const bodyOf = (body) => {
  if (body === undefined || body === null) return [null, null];
  if (typeof body === "string") return [body, "text/plain;charset=UTF-8"];
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return [bytesOf(body), null];
  if (typeof body === "object" && body instanceof native.part("url").URLSearchParams) {
    return [String(body), "application/x-www-form-urlencoded;charset=UTF-8"];
  }
  return [String(body), "text/plain;charset=UTF-8"];
};

// Text and bytes of a message, read once.
class Body {
  #body;
  bodyUsed = false;
  constructor(body) { this.#body = body; }
  #read() {
    if (this.bodyUsed) throw new TypeError("the body was read already");
    this.bodyUsed = true;
    return this.#body;
  }
  async text() {
    const body = this.#read();
    if (body === null || typeof body === "string") return body ?? "";
    const text = native.decode(body, false);
    return text.charCodeAt(0) === 0xFEFF ? text.slice(1) : text;
  }
  async json() { return JSON.parse(await this.text()); }
  async bytes() {
    const body = this.#read();
    return typeof body === "string" || body === null ? native.encode(body ?? "") : body.slice();
  }
  async arrayBuffer() { return (await this.bytes()).buffer; }
  copy() {
    if (this.bodyUsed) throw new TypeError("the body was read already");
    return this.#body;
  }
}

class Response extends Body {
  constructor(body = null, init = {}) {
    const [bytes, type] = bodyOf(body);
    super(bytes);
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.ok = this.status >= 200 && this.status <= 299;
    this.url = init.url ?? "";
    this.redirected = false;
    this.type = "default";
    this.headers = new Headers(init.headers);
    if (type && !this.headers.has("content-type")) this.headers.set("content-type", type);
  }
  clone() { return new Response(this.copy(), this); }
  static json(value, init) {
    const made = new Response(JSON.stringify(value), init);
    if (!new Headers(init?.headers).has("content-type")) {
      made.headers.set("content-type", "application/json");
    }
    return made;
  }
}

class Request extends Body {
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : null;
    const given = init.body !== undefined ? init.body : from ? from.copy() : null;
    const [body, type] = bodyOf(given);
    super(body);
    this.url = from ? from.url : /^https?:\/\/[!-~]+$/.test(input) ? String(input)
      : new (native.part("url").URL)(input).href;
    this.method = String(init.method ?? from?.method ?? "GET").toUpperCase();
    this.headers = new Headers(init.headers ?? from?.headers);
    this.signal = init.signal ?? from?.signal ?? null;
    if (type && !this.headers.has("content-type")) this.headers.set("content-type", type);
    if (body !== null && (this.method === "GET" || this.method === "HEAD")) {
      throw new TypeError(`a ${this.method} request has no body`);
    }
  }
  clone() { return new Request(this); }
}

const fetch = async (input, init) => {
  const request = new Request(input, init);
  const signal = request.signal;
  signal?.throwIfAborted();
  const headers = [];
  for (const [name, value] of request.headers) headers.push(name, value);
  const [id, answer] = native.fetch(request.method, request.url, headers, request.copy());
  let waited = answer;
  if (signal) {
    waited = Promise.race([answer, new Promise((_, reject) => {
      signal.addEventListener("abort", () => { native.forget(id); reject(signal.reason); });
    })]);
  }
  const [status, statusText, url, flat, body] = await waited;
  const response = new Response(body, { status, statusText, url: url || request.url });
  for (let at = 0; at < flat.length; at += 2) response.headers.append(flat[at], flat[at + 1]);
  return response;
};

return { fetch, Headers, Request, Response };
}
