# QuickJS-ng as a static library, from the pinned sources that tools/setup.sh put into
# build/third_party. Its warnings are its authors' business: ours are off for it.
#
# What loops for long in C asks the interrupt handler too: weir_patch adds that to a copy, and fails
# when the sources are not those it was written for. See docs/decisions/script-engine.md.
set(WEIR_THIRD_PARTY ${CMAKE_SOURCE_DIR}/build/third_party CACHE PATH
  "what tools/setup.sh unpacked")
set(WEIR_ESBUILD ${WEIR_THIRD_PARTY}/esbuild-linux-x64-0.28.2/bin/esbuild)
set(quickjs_dir ${WEIR_THIRD_PARTY}/quickjs-ng-0.17.0.2/upstream-quickjs)
if(NOT EXISTS ${quickjs_dir}/quickjs.c OR NOT EXISTS ${WEIR_ESBUILD})
  message(FATAL_ERROR "No QuickJS-ng or esbuild in ${WEIR_THIRD_PARTY}: run `make setup` first.")
endif()

# Replaces `old`, which must stand once in the variable `text`, by `new`.
function(weir_patch text old new)
  string(FIND "${${text}}" "${old}" first)
  string(FIND "${${text}}" "${old}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "QuickJS-ng changed: this stands in it once no more: ${old}")
  endif()
  string(REPLACE "${old}" "${new}" patched "${${text}}")
  set(${text} "${patched}" PARENT_SCOPE)
endfunction()

file(READ ${quickjs_dir}/quickjs.c quickjs_text)
# Array methods over what only says it is long: Array.prototype.includes.call({length: 2 ** 53}).
weir_patch(quickjs_text [[
static int JS_TryGetPropertyInt64(JSContext *ctx, JSValueConst obj, int64_t idx, JSValue *pval)
{
    JSValue val;
    JSAtom prop;
    int present;
]] [[
static __exception int js_poll_interrupts(JSContext *ctx);
static int JS_TryGetPropertyInt64(JSContext *ctx, JSValueConst obj, int64_t idx, JSValue *pval)
{
    JSValue val;
    JSAtom prop;
    int present;

    if (js_poll_interrupts(ctx)) {
        *pval = JS_EXCEPTION;
        return -1;
    }
]])
weir_patch(quickjs_text [[
JSValue JS_GetPropertyInt64(JSContext *ctx, JSValueConst obj, int64_t idx)
{
    JSAtom prop;
    JSValue val;
]] [[
JSValue JS_GetPropertyInt64(JSContext *ctx, JSValueConst obj, int64_t idx)
{
    JSAtom prop;
    JSValue val;

    if (js_poll_interrupts(ctx))
        return JS_EXCEPTION;
]])
# A sort compares long strings for as long as it likes: a comparison counts by what they are long.
weir_patch(quickjs_text [[
        cmp = js_string_compare(ap->str, bp->str);
    }
    if (cmp != 0)
        return cmp;
    /* make sort stable: compare array offsets */
]] [[
        ctx->interrupt_counter -= min_int(ap->str->len, bp->str->len) >> 11;
        if (js_poll_interrupts(ctx))
            goto exception;
        cmp = js_string_compare(ap->str, bp->str);
    }
    if (cmp != 0)
        return cmp;
    /* make sort stable: compare array offsets */
]])
# JSON.parse and JSON.stringify.
weir_patch(quickjs_text [[
    JSContext *ctx = s->ctx;
    JSValue val = JS_NULL;
    int ret;

    if (js_check_stack_overflow(ctx->rt, 0)) {
        return JS_ThrowStackOverflow(ctx);
    }
]] [[
    JSContext *ctx = s->ctx;
    JSValue val = JS_NULL;
    int ret;

    if (js_check_stack_overflow(ctx->rt, 0)) {
        return JS_ThrowStackOverflow(ctx);
    }
    if (js_poll_interrupts(ctx))
        return JS_EXCEPTION;
]])
weir_patch(quickjs_text [[
        JS_ThrowStackOverflow(ctx);
        goto exception;
    }

    if (JS_IsObject(val)) {
        p = JS_VALUE_GET_OBJ(val);
        cl = p->class_id;
        if (cl == JS_CLASS_STRING) {
            val = JS_ToStringFree(ctx, val);
]] [[
        JS_ThrowStackOverflow(ctx);
        goto exception;
    }
    if (js_poll_interrupts(ctx))
        goto exception;

    if (JS_IsObject(val)) {
        p = JS_VALUE_GET_OBJ(val);
        cl = p->class_id;
        if (cl == JS_CLASS_STRING) {
            val = JS_ToStringFree(ctx, val);
]])
# Searches for long strings in longer ones, where each place fails late: bytes are searched in
# linear time, and other comparisons count by what they are long.
weir_patch(quickjs_text [[
    int i, c1, c2;
    for (i = 0; i < len; i++) {
        if ((c1 = string_get(p1, x1 + i)) != (c2 = string_get(p2, x2 + i)))
]] [[
    int i, c1, c2;
    if (!p1->is_wide_char && !p2->is_wide_char)
        return memcmp(str8(p1) + x1, str8(p2) + x2, len);
    for (i = 0; i < len; i++) {
        if ((c1 = string_get(p1, x1 + i)) != (c2 = string_get(p2, x2 + i)))
]])
weir_patch(quickjs_text [[
static int string_indexof(JSString *p1, JSString *p2, int from)
]] [[
static int string_indexof(JSContext *ctx, JSString *p1, JSString *p2, int from)
]])
weir_patch(quickjs_text [[
    if (len2 == 0)
        return from;
    for (i = from, c = string_get(p2, 0); i + len2 <= len1; i = j + 1) {
        j = string_indexof_char(p1, c, i);
        if (j < 0 || j + len2 > len1)
            break;
]] [[
    if (len2 == 0)
        return from;
    if (!p1->is_wide_char && !p2->is_wide_char) {
        const uint8_t *at = memmem(str8(p1) + from, len1 - from, str8(p2), len2);
        return at ? (int)(at - str8(p1)) : -1;
    }
    for (i = from, c = string_get(p2, 0); i + len2 <= len1; i = j + 1) {
        j = string_indexof_char(p1, c, i);
        if (j < 0 || j + len2 > len1)
            break;
        /* The exception stays set, and every later poll throws it again. */
        ctx->interrupt_counter -= len2 >> 10;
        if (js_poll_interrupts(ctx))
            break;
]])
weir_patch(quickjs_text "pos = string_indexof(sp, searchp, endOfLastMatch)"
  "pos = string_indexof(ctx, sp, searchp, endOfLastMatch)")
weir_patch(quickjs_text "e = string_indexof(sp, rp, q)" "e = string_indexof(ctx, sp, rp, q)")
weir_patch(quickjs_text [[
    if (len >= v_len && inc * (stop - start) >= 0) {
        for (i = start;; i += inc) {
]] [[
    if (inc > 0) {
        if (len >= v_len && stop >= start)
            ret = string_indexof(ctx, p, p1, start);
    } else if (len >= v_len && inc * (stop - start) >= 0) {
        for (i = start;; i += inc) {
            ctx->interrupt_counter -= v_len >> 12;
            if (js_poll_interrupts(ctx))
                goto fail;
]])
weir_patch(quickjs_text [[
    if (start >= 0 && start <= stop) {
        for (i = start;; i++) {
]] [[
    if (start >= 0 && start < stop) {
        ret = string_indexof(ctx, p, p1, start) >= 0; /* includes: stop is len - v_len */
    } else if (start >= 0 && start == stop) {
        for (i = start;; i++) {
]])
# Compiling: each name is looked for among all of its function, of which there may be 65,534.
weir_patch(quickjs_text [[
static __exception int next_token(JSParseState *s)
{
    const uint8_t *p, *p_next;
    int c;
    bool ident_has_escape;
    JSAtom atom;

]] [[
static __exception int next_token(JSParseState *s)
{
    const uint8_t *p, *p_next;
    int c;
    bool ident_has_escape;
    JSAtom atom;

    if (s->cur_func)
        s->ctx->interrupt_counter -=
            (s->cur_func->var_count + s->cur_func->global_var_count) >> 6;
    if (js_poll_interrupts(s->ctx))
        return -1;
]])
weir_patch(quickjs_text [[
    int label_done;
    JSFunctionDef *fd;
    JSVarDef *vd;
    bool is_pseudo_var, is_arg_scope;

    label_done = -1;
]] [[
    int label_done;
    JSFunctionDef *fd;
    JSVarDef *vd;
    bool is_pseudo_var, is_arg_scope;

    for (fd = s; fd; fd = fd->parent)
        ctx->interrupt_counter -= (fd->var_count + fd->closure_var_count) >> 6;
    label_done = -1;
]])
weir_patch(quickjs_text [[
    for (pos = 0; pos < bc_len; pos = pos_next) {
        op = bc_buf[pos];
        len = opcode_info[op].size;
        pos_next = pos + len;
        switch(op) {
        case OP_source_loc:
            line_num = get_u32(bc_buf + pos + 1);
            col_num = get_u32(bc_buf + pos + 5);
            s->source_loc_size++;
            goto no_change;

        case OP_eval: /* convert]] [[
    for (pos = 0; pos < bc_len; pos = pos_next) {
        if (js_poll_interrupts(ctx))
            goto fail;
        op = bc_buf[pos];
        len = opcode_info[op].size;
        pos_next = pos + len;
        switch(op) {
        case OP_source_loc:
            line_num = get_u32(bc_buf + pos + 1);
            col_num = get_u32(bc_buf + pos + 5);
            s->source_loc_size++;
            goto no_change;

        case OP_eval: /* convert]])
# A text grown at both its ends is laid out anew every few steps.
weir_patch(quickjs_text [[
static JSValue js_rebalance_string_rope(JSContext *ctx, JSValueConst rope)
{
]] [[
static JSValue js_rebalance_string_rope(JSContext *ctx, JSValueConst rope)
{
    ctx->interrupt_counter -= string_rope_get_len(rope) >> 6;
]])
# Numbers of a million bits take seconds to write out, with nothing to stop them; 39,000 digits do.
weir_patch(quickjs_text [[
#define JS_BIGINT_MAX_SIZE ((1024 * 1024) / JS_LIMB_BITS)]] [[
#define JS_BIGINT_MAX_SIZE ((128 * 1024) / JS_LIMB_BITS)]])
# An error about memory needs memory too: without some in reserve, null would be thrown.
weir_patch(quickjs_text [[
    if (!rt->in_out_of_memory) {
        rt->in_out_of_memory = true;
        JS_ThrowInternalError(ctx, "out of memory");
        rt->in_out_of_memory = false;
    }
]] [[
    if (!rt->in_out_of_memory) {
        size_t limit = rt->malloc_state.malloc_limit;
        rt->in_out_of_memory = true;
        if (limit)
            rt->malloc_state.malloc_limit = limit + 65536;
        JS_ThrowInternalError(ctx, "out of memory");
        rt->malloc_state.malloc_limit = limit;
        rt->in_out_of_memory = false;
    }
]])
set(quickjs_patched ${CMAKE_BINARY_DIR}/generated/quickjs/quickjs.c)
file(CONFIGURE OUTPUT ${quickjs_patched} CONTENT "${quickjs_text}" @ONLY)

add_library(quickjs STATIC ${quickjs_patched} ${quickjs_dir}/dtoa.c ${quickjs_dir}/libregexp.c
  ${quickjs_dir}/libunicode.c)
target_include_directories(quickjs SYSTEM PUBLIC ${quickjs_dir})
target_compile_definitions(quickjs PRIVATE _GNU_SOURCE)
target_compile_options(quickjs PRIVATE -std=gnu11 -w -fno-sanitize=undefined)
target_link_libraries(quickjs PUBLIC m Threads::Threads)
