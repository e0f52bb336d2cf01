// Text as bytes, events, random bytes, copies.
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

class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(text = "") { return native.encode(String(text)); }
  encodeInto(text, into) {
    let read = 0;
    let written = 0;
    for (const character of String(text)) {
      const bytes = native.encode(character);
      if (written + bytes.length > into.length) break;
      into.set(bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
}

class TextDecoder {
  #fatal;
  #keepMark;
  constructor(label = "utf-8", options = {}) {
    if (!/^\s*(utf-?8|unicode-1-1-utf-8)\s*$/i.test(String(label))) {
      throw new RangeError(`TextDecoder knows utf-8 only, not '${label}'`);
    }
    this.#fatal = Boolean(options.fatal);
    this.#keepMark = Boolean(options.ignoreBOM);
  }
  get encoding() { return "utf-8"; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#keepMark; }
  decode(input) {
    if (input === undefined) return "";
    const text = native.decode(bytesOf(input), this.#fatal);
    return !this.#keepMark && text.charCodeAt(0) === 0xFEFF ? text.slice(1) : text;
  }
}

class EventTarget {
  #listeners = new Map();
  addEventListener(type, listener, options) {
    const list = this.#listeners.get(type) ?? [];
    if (listener && !list.some((entry) => entry.listener === listener)) {
      list.push({ listener, once: Boolean(options?.once) });
    }
    this.#listeners.set(type, list);
  }
  removeEventListener(type, listener) {
    const list = this.#listeners.get(type) ?? [];
    this.#listeners.set(type, list.filter((entry) => entry.listener !== listener));
  }
  dispatchEvent(event) {
    this[`on${event.type}`]?.(event);
    for (const { listener, once } of [...this.#listeners.get(event.type) ?? []]) {
      if (once) this.removeEventListener(event.type, listener);
      if (typeof listener === "function") listener.call(this, event);
      else listener.handleEvent(event);
    }
    return !event.defaultPrevented;
  }
}

class Event {
  constructor(type) { this.type = String(type); }
}

const kAbort = Symbol("abort");
class AbortSignal extends EventTarget {
  aborted = false;
  reason = undefined;
  onabort = null;
  throwIfAborted() { if (this.aborted) throw this.reason; }
  [kAbort](reason) {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason ?? new DOMException("This operation was aborted", "AbortError");
    this.dispatchEvent(new Event("abort"));
  }
  static abort(reason) {
    const signal = new AbortSignal();
    signal[kAbort](reason);
    return signal;
  }
  static timeout(milliseconds) {
    const signal = new AbortSignal();
    native.setTimeout(
      () => signal[kAbort](new DOMException("The operation timed out", "TimeoutError")),
      milliseconds);
    return signal;
  }
  static any(signals) {
    const signal = new AbortSignal();
    for (const one of signals) {
      if (one.aborted) signal[kAbort](one.reason);
      else one.addEventListener("abort", () => signal[kAbort](one.reason), { once: true });
    }
    return signal;
  }
}

class AbortController {
  signal = new AbortSignal();
  abort(reason) { this.signal[kAbort](reason); }
}

const crypto = {
  randomUUID: () => native.randomUuid(),
  getRandomValues: (view) => {
    native.randomBytes(bytesOf(view));
    return view;
  },
};

const cloneInto = (value, seen) => {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new DOMException(`${String(value)} could not be cloned`, "DataCloneError");
  }
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const keep = (copy) => { seen.set(value, copy); return copy; };
  if (value instanceof Date) return keep(new Date(value));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return keep(value.slice());
  if (value instanceof Map) {
    const copy = keep(new Map());
    for (const [key, item] of value) copy.set(cloneInto(key, seen), cloneInto(item, seen));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set());
    for (const item of value) copy.add(cloneInto(item, seen));
    return copy;
  }
  if (value instanceof Error) {
    const copy = keep(new Error(value.message));
    copy.name = value.name;
    return copy;
  }
  const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
  for (const key of Object.keys(value)) copy[key] = cloneInto(value[key], seen);
  return copy;
};
const structuredClone = (value) => cloneInto(value, new Map());

return { TextEncoder, TextDecoder, AbortController, AbortSignal, Event, EventTarget, crypto,
  structuredClone };
}
