/* frame.c - the state run as a state function sees it: its chunk, all chunks, the returns so far
 * (salt/state.h). Outside of a run each of them is empty. */
#include "common/plugin/ctx.h"
#include "common/py/py_wire.h"
#include "salt/state.h"

const call_frame_t *
call_set_frame(call_ctx_t *ctx, const call_frame_t *frame)
{
    const call_frame_t *before = ctx->frame;

    ctx->frame = frame;
    ctx->said = NULL; /* the state has arguments of its own */
    return before;
}

/* The empty value for use outside of a run; it lives as long as the context. BORROWED. */
static json_t *
plugin_frame_nothing(call_ctx_t *ctx, const char *key, json_t *(*make)(void) )
{
    json_t *v = value_get(ctx->nothing, key);

    if (v == NULL) {
        v = make();
        json_object_set_new(ctx->nothing, key, v);
    }
    return v;
}

json_t *
ctx_chunk(call_ctx_t *ctx)
{
    return ctx->frame != NULL ? ctx->frame->chunk : plugin_frame_nothing(ctx, "chunk", json_object);
}

json_t *
ctx_chunks(call_ctx_t *ctx)
{
    return ctx->frame != NULL ? ctx->frame->chunks : plugin_frame_nothing(ctx, "chunks", json_array);
}

json_t *
ctx_running(call_ctx_t *ctx)
{
    return ctx->frame != NULL ? ctx->frame->running : plugin_frame_nothing(ctx, "running", json_object);
}

py_t *
ctx_native_arg(call_ctx_t *ctx, const char *name)
{
    json_t *wire = value_get(value_get(ctx_chunk(ctx), CHUNK_NATIVES), name);

    return wire != NULL ? py_from_wire(wire) : NULL;
}

int
ctx_share(call_ctx_t *ctx, const char *key, json_t *item, fail_t *err)
{
    json_t *list = json_object_get(ctx_context(ctx), key);

    if (list == NULL) {
        list = json_array();
        json_object_set_new(ctx_context(ctx), key, list);
    }
    json_array_append(list, item);
    return ctx->relay != NULL ? ctx->relay->share(ctx->relay->cookie, key, item, err) : 0;
}

const char *
ctx_saltenv(call_ctx_t *ctx)
{
    const char *own = value_str(ctx_chunk(ctx), "__env__", "base");

    return value_bool(ctx_opts(ctx), "lock_saltenv", false) ? own : value_str(ctx_chunk(ctx), "saltenv", own);
}

const char *
ctx_run_id(call_ctx_t *ctx)
{
    return ctx->frame != NULL ? ctx->frame->run_id : "";
}
