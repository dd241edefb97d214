/* client_local.c - clients that have minions do something: local, local_async, local_batch, local_subset. */
#include <microhttpd.h>

#include "api/api.h"
#include "api/low.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "salt/value.h"

#define DENIED "Authorization error occurred."

enum { SUBSET_DEFAULT = 3 };

/* ---- the request ------------------------------------------------------------------------------- */

/* Replaces a node group by its compound target. */
static bool
local_nodegroup(low_t *low, json_t *request)
{
    const settings_t *set = low->request->api->set;
    const char *name = value_str(request, "tgt", "");
    fail_auto_t err = FAIL_INIT;

    if (!str_eq(value_str(request, "tgt_type", ""), "nodegroup"))
        return true;
    json_t *target = nodegroup_target(name, value_get(set->opts, "nodegroups"), &err);
    if (target == NULL) {
        AUTO_FREE char *text = xasprintf("Node group %s unavailable: %s", name, fail_text(&err));
        low_fail(low, MHD_HTTP_BAD_REQUEST, text);
        return false;
    }
    json_object_set_new(request, "tgt", target);
    json_object_set_new(request, "tgt_type", json_string("compound"));
    return true;
}

static bool
local_bad(low_t *low, const char *text)
{
    low_fail(low, MHD_HTTP_BAD_REQUEST, text);
    return false;
}

/* NEW request `publish`, or NULL: the request is answered. */
static json_t *
local_request(low_t *low, bool follow)
{
    json_t *chunk = low->chunk, *tgt = value_get(chunk, "tgt"), *fun = value_get(chunk, "fun");
    static const char *const copied[] = { "ret", "metadata", "delimiter", "jid", "ret_config", "ret_kwargs" };
    const char *type = value_str(chunk, "tgt_type", value_str(chunk, "expr_form", "glob"));
    double timeout = low_number(value_get(chunk, "timeout"));

    if (!json_is_string(tgt) && !json_is_array(tgt)) {
        local_bad(low, "tgt is wanted: the minions, as \"*\"");
        return NULL;
    }
    if (!json_is_string(fun) && !json_is_array(fun)) {
        local_bad(low, "fun is wanted: a function, as \"test.ping\"");
        return NULL;
    }
    /* Behind the arguments those by keyword stand, marked as a minion takes them. */
    json_t *arg = value_get(chunk, "arg"), *kwarg = value_get(chunk, "kwarg");
    json_t *all = json_is_array(arg) ? json_copy(arg) : json_array();

    if (json_object_size(kwarg) > 0) {
        json_t *marked = json_copy(kwarg);
        json_object_set_new(marked, "__kwarg__", json_true());
        json_array_append_new(all, marked);
    }
    json_t *request = json_pack("{s:s, s:O, s:s, s:O, s:o}", "op", "publish", "tgt", tgt, "tgt_type", type,
                                "fun", fun, "arg", all);
    for (size_t i = 0; i < NELEMS(copied); i++)
        if (value_truthy(value_get(chunk, copied[i])))
            json_object_set(request, copied[i], value_get(chunk, copied[i]));
    if (!local_nodegroup(low, request)) {
        json_decref(request);
        return NULL;
    }
    if (follow)
        json_object_set_new(request, "follow", json_true());
    low->timeout_ms =
        (int64_t) ((timeout > 0 ? timeout : value_num(low->request->api->set->opts, "timeout", 5)) * 1000);
    return request;
}

static bool
local_send(low_t *low, bool follow, const char *more, json_t *value)
{
    json_t *request = local_request(low, follow);

    if (request == NULL) {
        json_decref(value);
        return false;
    }
    if (more != NULL)
        json_object_set_new(request, more, value);
    low->ret = json_object();
    low_ask(low, &request);
    return true;
}

/* ---- local, local_subset ----------------------------------------------------------------------- */

static bool
local_begin(low_t *low)
{
    return local_send(low, true, NULL, NULL);
}

static bool
subset_begin(low_t *low)
{
    json_t *of = value_get(low->chunk, "subset") != NULL ? value_get(low->chunk, "subset")
                                                         : value_get(low->chunk, "sub");
    double n = of != NULL ? low_number(of) : SUBSET_DEFAULT;

    if (n < 1)
        return local_bad(low, "subset is wanted: a number of minions");
    return local_send(low, true, "subset", json_integer((json_int_t) n));
}

static void
local_reply(low_t *low, const json_t *msg)
{
    json_t *minions = value_get(msg, "minions");
    const char *jid = value_str(msg, "jid", "");

    if (*jid == '\0') {
        json_t *none = json_object();
        low_return(low, &none);
        return;
    }
    low->jid = xstrdup(jid);
    low->targets = json_incref(minions);
    low->job = follow_new(jid, minions, NULL, clock_mono_ms());
}

/* A minion's return as the client gets it: its value, or with full_return its retcode and jid, too. NEW. */
static json_t *
local_shape(const low_t *low, const json_t *push)
{
    json_t *ret = value_get(push, "return"), *code = value_get(push, "retcode");

    if (!value_bool(low->chunk, "full_return", false))
        return json_incref(ret);
    return json_pack("{s:O, s:O, s:s}", "ret", ret, "retcode", code, "jid", low->jid);
}

/* `push` NULL: silence has lasted too long. */
static void
local_push(low_t *low, const json_t *push)
{
    int64_t now = clock_mono_ms();

    if (low->job == NULL)
        return;
    if (push != NULL && follow_push(low->job, push, now))
        json_object_set_new(low->ret, value_str(push, "id", ""), local_shape(low, push));
    if (push == NULL || follow_over(low->job, low->timeout_ms, now)) {
        /* Minions that are silent are false, as in Salt. */
        json_t *ret = json_incref(low->ret), *id;
        size_t i;

        json_array_foreach (low->targets, i, id)
            if (json_is_string(id) && json_object_get(ret, json_string_value(id)) == NULL)
                json_object_set_new(ret, json_string_value(id), json_false());
        low_return(low, &ret);
    }
}

/* ---- local_batch: an entry of the list for each return ------------------------------------------ */

#define BATCH_SIZE "10%" /* Salt's, where the chunk names none */

static bool
batch_begin(low_t *low)
{
    json_t *size = value_get(low->chunk, "batch") != NULL ? value_get(low->chunk, "batch")
                                                          : value_get(low->chunk, "batch_size");
    json_t *batch = json_pack("{s:o}", "size", size != NULL ? json_incref(size) : json_string(BATCH_SIZE));
    static const struct {
        const char *from, *to;
    } more[] = { { "batch_wait", "wait" }, { "failhard", "failhard" } };

    for (size_t i = 0; i < NELEMS(more); i++)
        if (value_get(low->chunk, more[i].from) != NULL)
            json_object_set(batch, more[i].to, value_get(low->chunk, more[i].from));
    return local_send(low, true, "batch", batch);
}

static void
batch_reply(low_t *low, const json_t *msg)
{
    if (*value_str(msg, "jid", "") == '\0')
        low_next(low);
    else
        local_reply(low, msg);
}

static void
batch_push(low_t *low, const json_t *push)
{
    int64_t now = clock_mono_ms();

    if (low->job == NULL)
        return;
    if (push != NULL && follow_push(low->job, push, now))
        json_array_append_new(low->returns,
                              json_pack("{s:o}", value_str(push, "id", ""), local_shape(low, push)));
    if (push == NULL || follow_over(low->job, low->timeout_ms, now))
        low_next(low);
}

/* ---- local_async -------------------------------------------------------------------------------- */

static bool
async_begin(low_t *low)
{
    return local_send(low, false, NULL, NULL);
}

static void
async_reply(low_t *low, const json_t *msg)
{
    const char *jid = value_str(msg, "jid", "");
    json_t *value = *jid == '\0' ? json_object()
                                 : json_pack("{s:s, s:O}", "jid", jid, "minions", value_get(msg, "minions"));

    low_return(low, &value);
}

const client_t client_local = { "local", local_begin, local_reply, local_push, .denied = DENIED },
               client_subset = { "local_subset", subset_begin, local_reply, local_push, .denied = DENIED },
               client_batch = { "local_batch", batch_begin, batch_reply, batch_push, .denied = DENIED },
               client_async = { "local_async", async_begin, async_reply, .denied = DENIED };
