// Addresses.
// A function that is given the natives of natives.cc and returns globals; natives.cc lists them.
(native) => {
"use strict";

const formEncode = (text) => encodeURIComponent(String(text).toWellFormed())
  .replace(/[!'()~]|%20/g, (part) =>
    part === "%20" ? "+" : `%${part.charCodeAt(0).toString(16).toUpperCase()}`);
const percentDecode = (text) => {
  if (!text.includes("%")) return text;
  const bytes = native.encode(text);
  const out = new Uint8Array(bytes.length);
  let size = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const digits = bytes[at] === 0x25 && at + 2 < bytes.length
      ? String.fromCharCode(bytes[at + 1], bytes[at + 2]) : "";
    const hex = /^[0-9a-f]{2}$/i.test(digits);
    out[size++] = hex ? parseInt(digits, 16) : bytes[at];
    if (hex) at += 2;
  }
  return native.decode(out.subarray(0, size), false);
};

const kChanged = Symbol("changed");
class URLSearchParams {
  #pairs = [];
  constructor(init = "") {
    this[kChanged] = null;
    if (typeof init === "object" && init !== null) {
      const entries = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
      for (const [name, value] of entries) this.#pairs.push([String(name), String(value)]);
      return;
    }
    for (const part of String(init).replace(/^\?/, "").split("&")) {
      if (part === "") continue;
      const cut = part.indexOf("=");
      const [name, value] = cut < 0 ? [part, ""] : [part.slice(0, cut), part.slice(cut + 1)];
      this.#pairs.push([name, value].map((text) => percentDecode(text.replaceAll("+", " "))));
    }
  }
  get size() { return this.#pairs.length; }
  #changed() { this[kChanged]?.(this.toString()); }
  append(name, value) { this.#pairs.push([String(name), String(value)]); this.#changed(); }
  delete(name, value) {
    this.#pairs = this.#pairs.filter(([key, item]) =>
      key !== String(name) || value !== undefined && item !== String(value));
    this.#changed();
  }
  get(name) { return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null; }
  getAll(name) {
    return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value);
  }
  has(name, value) {
    return this.#pairs.some(([key, item]) =>
      key === String(name) && (value === undefined || item === String(value)));
  }
  set(name, value) {
    const at = this.#pairs.findIndex(([key]) => key === String(name));
    if (at < 0) { this.append(name, value); return; }
    this.#pairs[at][1] = String(value);
    this.#pairs = this.#pairs.filter(([key], index) => key !== String(name) || index <= at);
    this.#changed();
  }
  sort() { this.#pairs.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0); this.#changed(); }
  forEach(each, that) {
    for (const [name, value] of this.#pairs) each.call(that, value, name, this);
  }
  *entries() { for (const pair of this.#pairs) yield [...pair]; }
  *keys() { for (const [name] of this.#pairs) yield name; }
  *values() { for (const [, value] of this.#pairs) yield value; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#pairs.map((pair) => pair.map(formEncode).join("=")).join("&"); }
}

const kPorts = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21" };
const special = (protocol) => Object.hasOwn(kPorts, protocol);
// Percent-encodes what is not ASCII and what `set` names; what is encoded already stays.
const encodePart = (text, set) => text.toWellFormed().replace(set, (part) =>
  part.replace(/[^]/gu, (character) => [...native.encode(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("")));
const kPathSet = /[^!$%&'()*+,\-./0-9:;=@A-Z[\\\]^_a-z|~]+/g;
const kQuerySet = /[^!$%&()*+,\-./0-9:;=?@A-Z[\\\]^_`a-z{|}~]+/g;
const kFragmentSet = /[^!#$%&'()*+,\-./0-9:;=?@A-Z[\\\]^_a-z{|}~]+/g;
const kUserSet = /[^!$%&'()*+,\-.0-9A-Z_a-z~]+/g;

const parsePath = (path, protocol) => {
  const parts = [];
  const pieces = (special(protocol) ? path.replaceAll("\\", "/") : path).split("/").slice(1);
  pieces.forEach((piece, index) => {
    const last = index === pieces.length - 1;
    if (/^(\.|%2e)$/i.test(piece)) { if (last) parts.push(""); return; }
    if (/^(\.|%2e){2}$/i.test(piece)) { parts.pop(); if (last) parts.push(""); return; }
    parts.push(encodePart(piece, kPathSet));
  });
  return `/${parts.join("/")}`;
};

const parseHost = (host, protocol) => {
  if (host.startsWith("[")) {
    if (!/^\[[0-9a-f:.]+\]$/i.test(host)) return null;
    return host.toLowerCase();
  }
  if (!special(protocol)) return /[\s#/<>?@[\\\]^|]/.test(host) ? null : host;
  const name = percentDecode(host).toLowerCase();
  // Names beyond ASCII would have to become punycode, which nothing here does.
  return name === "" || /[^!-~]|["#%/:<>?@[\\\]^`{|}]/.test(name) ? null : name;
};

// The parts of an absolute URL; null when it is none.
const parseAbsolute = (text) => {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text);
  if (!scheme) return null;
  const protocol = scheme[0].toLowerCase();
  let rest = text.slice(scheme[0].length);
  const parts = { protocol, username: "", password: "", hostname: "", port: "", pathname: "",
    search: "", hash: "", opaque: false };
  const hash = rest.indexOf("#");
  if (hash >= 0) {
    parts.hash = encodePart(rest.slice(hash), kFragmentSet);
    rest = rest.slice(0, hash);
  }
  const query = rest.indexOf("?");
  if (query >= 0) {
    parts.search = encodePart(rest.slice(query), kQuerySet);
    rest = rest.slice(0, query);
  }
  if (special(protocol)) rest = `//${rest.replaceAll("\\", "/").replace(/^\/*/, "")}`;
  if (!rest.startsWith("//")) {
    parts.opaque = !rest.startsWith("/");
    parts.pathname = parts.opaque ? rest : parsePath(rest, protocol);
    return parts;
  }
  const slash = rest.indexOf("/", 2);
  let authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  const at = authority.lastIndexOf("@");
  if (at >= 0) {
    const [username, ...password] = authority.slice(0, at).split(":");
    parts.username = encodePart(username, kUserSet);
    parts.password = encodePart(password.join(":"), kUserSet);
    authority = authority.slice(at + 1);
  }
  const port = /:(\d*)$/.exec(authority);
  if (port) {
    authority = authority.slice(0, -port[0].length);
    if (Number(port[1]) > 65535) return null;
    const number = port[1] === "" ? "" : String(Number(port[1]));
    parts.port = number === kPorts[protocol] ? "" : number;
  }
  const host = parseHost(authority, protocol);
  if (host === null) return null;
  parts.hostname = host;
  parts.pathname = slash < 0 && !special(protocol) ? ""
    : parsePath(slash < 0 ? "/" : rest.slice(slash), protocol);
  return parts;
};

const parseUrl = (input, base) => {
  const text = input.replace(/^[\0- ]+|[\0- ]+$/g, "").replace(/[\t\n\r]/g, "");
  const absolute = /^[a-z][a-z0-9+.-]*:/i.test(text);
  if (absolute) return parseAbsolute(text);
  if (!base || base.opaque && !text.startsWith("#")) return null;
  const origin = `${base.protocol}//${credentials(base)}${hostOf(base)}`;
  if (/^[/\\]{2}/.test(text)) return parseAbsolute(base.protocol + text);
  if (/^[/\\]/.test(text)) return parseAbsolute(origin + text);
  if (text.startsWith("#")) return parseAbsolute(hrefOf({ ...base, hash: "" }) + text);
  if (text === "") return { ...base, hash: "" };
  if (text.startsWith("?")) return parseAbsolute(origin + base.pathname + text);
  return parseAbsolute(origin + base.pathname.replace(/[^/]*$/, "") + text);
};
const hostOf = (parts) => parts.hostname + (parts.port === "" ? "" : `:${parts.port}`);
const credentials = ({ username, password }) => username === "" && password === "" ? ""
  : `${username}${password === "" ? "" : `:${password}`}@`;
const hrefOf = (parts) => {
  const authority = special(parts.protocol) || parts.hostname !== ""
    ? `//${credentials(parts)}${hostOf(parts)}` : "";
  const search = parts.search === "?" ? "?" : parts.search;
  return `${parts.protocol}${authority}${parts.pathname}${search}${parts.hash}`;
};

class URL {
  #parts;
  #params = null;
  constructor(url, base) {
    let from = null;
    if (base !== undefined) {
      from = parseUrl(String(base), null);
      if (!from) throw new TypeError(`'${base}' is no base URL`);
    }
    this.#parts = parseUrl(String(url), from);
    if (!this.#parts) throw new TypeError(`Invalid URL: '${url}'`);
  }
  static canParse(url, base) {
    try { return Boolean(new URL(url, base)); } catch { return false; }
  }
  static parse(url, base) { try { return new URL(url, base); } catch { return null; } }
  get href() { return hrefOf(this.#parts); }
  set href(value) { this.#parts = new URL(value).#parts; this.#params = null; }
  get origin() {
    const parts = this.#parts;
    return special(parts.protocol) ? `${parts.protocol}//${hostOf(parts)}` : "null";
  }
  get protocol() { return this.#parts.protocol; }
  get username() { return this.#parts.username; }
  get password() { return this.#parts.password; }
  get host() { return hostOf(this.#parts); }
  get hostname() { return this.#parts.hostname; }
  get port() { return this.#parts.port; }
  get pathname() { return this.#parts.pathname; }
  get search() { return this.#parts.search === "?" ? "" : this.#parts.search; }
  get hash() { return this.#parts.hash === "#" ? "" : this.#parts.hash; }
  set protocol(value) { this.#replace({ protocol: `${String(value).replace(/:.*$/, "")}:` }); }
  set username(value) { this.#replace({ username: String(value) }); }
  set password(value) { this.#replace({ password: String(value) }); }
  set host(value) {
    const [, hostname, port] = /^(.*?)(?::(\d*))?$/.exec(String(value));
    this.#replace(port === undefined ? { hostname } : { hostname, port });
  }
  set hostname(value) { this.#replace({ hostname: String(value) }); }
  set port(value) { this.#replace({ port: String(value) }); }
  set pathname(value) { this.#replace({ pathname: `/${String(value).replace(/^\//, "")}` }); }
  set search(value) {
    const text = String(value).replace(/^\?/, "");
    this.#replace({ search: text === "" ? "" : `?${text}` });
    this.#params = null;
  }
  set hash(value) {
    const text = String(value).replace(/^#/, "");
    this.#replace({ hash: text === "" ? "" : `#${text}` });
  }
  // Parts that make no URL are ignored, as browsers do.
  #replace(change) {
    this.#parts = parseAbsolute(hrefOf({ ...this.#parts, ...change })) ?? this.#parts;
  }
  get searchParams() {
    if (!this.#params) {
      this.#params = new URLSearchParams(this.search);
      this.#params[kChanged] = (text) => { this.#parts.search = text === "" ? "" : `?${text}`; };
    }
    return this.#params;
  }
  toString() { return this.href; }
  toJSON() { return this.href; }
}

return { URL, URLSearchParams };
}
