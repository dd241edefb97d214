/* peer_pair.h - a template with what a peer said: the text that it makes, and the parts of it that are not
 * marked. Two renders with what two peers said show whether these depend on them. Used by the unit test that
 * walks all filters and methods, and by the fuzz target.
 */
#ifndef TESTS_LIB_PEER_PAIR_H
#define TESTS_LIB_PEER_PAIR_H

#include "common/base/clock.h"
#include "common/jinja/jinja_salt.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"

/* What a template made: the text, and the unmarked parts of it. */
typedef struct peer_out {
    buf_t text, rest;
} peer_out_t;

static inline void
peer_out_free(peer_out_t *o)
{
    buf_free(&o->text);
    buf_free(&o->rest);
}

static inline void
peer_rest(peer_out_t *o, const spans_t *spans)
{
    size_t at = 0;

    for (size_t i = 0; i < spans->n; i++) {
        buf_add(&o->rest, buf_str(&o->text) + at, spans->v[i].from - at);
        at = spans->v[i].to;
    }
    buf_add(&o->rest, buf_str(&o->text) + at, o->text.len - at);
}

/* 0, or -1 when the template raises. `own` is JSON too. */
static inline int
peer_render(const jinja_loader_t *loader, const char *template, const char *said, const char *own,
            peer_out_t *ret)
{
    const py_limits_t limits = { .bytes = 1 << 26, .steps = 200000, .deadline_ms = clock_mono_ms() + 10000 };
    jinja_options_t options = { 0 };
    jinja_error_t e = JINJA_ERROR_INIT;
    spans_t spans = { .v = NULL };
    py_scope_t scope;

    py_scope_enter(&scope, &limits);
    jinja_salt_options(&options, NULL, false);
    options.output = 100000;
    options.steps = 200000;
    jinja_t *engine = jinja_new(&options, loader);
    py_t *context = py_dict();
    py_dict_sets_new(context, "peer", py_peer(py_json_loads(said, strlen(said)), 0));
    py_dict_sets_new(context, "own", py_json_loads(own, strlen(own)));
    const jinja_source_t source = { .text = template, .len = strlen(template), .peer = &spans };
    *ret = (peer_out_t){ BUF_INIT, BUF_INIT };
    int rc = jinja_salt_render(engine, &source, context, &ret->text, &e);
    if (rc == 0)
        peer_rest(ret, &spans);
    spans_free(&spans);
    jinja_error_free(&e);
    py_unref(context);
    jinja_destroy(&engine);
    py_scope_leave(&scope);
    return rc;
}

#endif
