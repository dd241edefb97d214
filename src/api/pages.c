/* pages.c - routes that are chunks with a shape of their own: /, /run, /minions, /jobs, /keys. */
#include <microhttpd.h>

#include "api/api.h"
#include "api/body.h"
#include "api/keytar.h"
#include "api/low.h"
#include "api/route.h"
#include "salt/value.h"

/* The body's list; NULL: the request is answered. NEW. */
static json_t *
pages_chunks(request_t *request)
{
    fail_auto_t err = FAIL_INIT;
    json_t *chunks = body_chunks(&request->data, &err);

    if (chunks == NULL)
        reply_error(request, MHD_HTTP_BAD_REQUEST, fail_text(&err));
    else
        request->data = json_incref(chunks); /* for the access log */
    return chunks;
}

void
low_post(request_t *request)
{
    json_t *chunks = pages_chunks(request);

    if (chunks != NULL)
        low_start(request, &chunks, false, low_answer);
}

void
run_post(request_t *request)
{
    json_t *chunks = pages_chunks(request);

    if (chunks != NULL)
        low_start(request, &chunks, true, low_answer);
}

/* ---- /minions ----------------------------------------------------------------------------------- */

void
minions_get(request_t *request)
{
    json_t *chunks = json_pack("[{s:s, s:s, s:s, s:s}]", "client", "local", "tgt",
                               *request->rest != '\0' ? request->rest : "*", "tgt_type", "glob", "fun",
                               "grains.items");

    low_start(request, &chunks, false, low_answer);
}

/* The jobs have begun: 202, and where to look for them. */
static void
minions_begun(request_t *request, json_t *returns)
{
    json_t *links = json_array(), *one, *value;
    size_t i;

    json_array_foreach (returns, i, one)
        if (value_get(one, "jid") != NULL)
            json_array_append_new(links, json_pack("{s:o}", "href",
                                                   value_fmt("%s/jobs/%s", request->api->set->prefix,
                                                             value_str(one, "jid", ""))));
    value = json_pack("{s:O, s:{s:o}}", "return", returns, "_links", "jobs", links);
    reply_value(request, MHD_HTTP_ACCEPTED, &value);
}

void
minions_post(request_t *request)
{
    json_t *chunks = pages_chunks(request), *chunk;
    size_t i;

    json_array_foreach (chunks, i, chunk)
        json_object_set_new(chunk, "client", json_string("local_async"));
    if (chunks != NULL)
        low_start(request, &chunks, false, minions_begun);
}

/* ---- /jobs --------------------------------------------------------------------------------------- */

/* A job as jobs.list_job tells it, and its returns by minion. */
static void
jobs_one(request_t *request, json_t *returns)
{
    json_t *job = json_array_get(returns, 0), *by_minion = json_object(), *one, *value;
    const char *id;

    json_object_foreach (value_get(job, "Result"), id, one)
        json_object_set(by_minion, id, value_get(one, "return"));
    value = json_pack("{s:[O], s:[o]}", "info", job, "return", by_minion);
    reply_value(request, MHD_HTTP_OK, &value);
}

void
joblist_get(request_t *request)
{
    bool one = *request->rest != '\0';
    json_t *chunks = one ? json_pack("[{s:s, s:s, s:{s:s}}]", "client", "runner", "fun", "jobs.list_job",
                                     "kwarg", "jid", request->rest)
                         : json_pack("[{s:s, s:s}]", "client", "runner", "fun", "jobs.list_jobs");

    low_start(request, &chunks, false, one ? jobs_one : low_answer);
}

/* ---- /keys --------------------------------------------------------------------------------------- */

static json_t *
keys_of(const json_t *returns)
{
    return value_get(value_get(json_array_get(returns, 0), "data"), "return");
}

static void
keys_shown(request_t *request, json_t *returns)
{
    json_t *value = json_pack("{s:O}", "return", keys_of(returns));

    reply_value(request, MHD_HTTP_OK, &value);
}

void
keys_get(request_t *request)
{
    json_t *chunks = *request->rest != '\0'
                         ? json_pack("[{s:s, s:s, s:s}]", "client", "wheel", "fun", "key.finger", "match",
                                     request->rest)
                         : json_pack("[{s:s, s:s}]", "client", "wheel", "fun", "key.list_all");

    low_start(request, &chunks, false, keys_shown);
}

/* A new pair of keys as an archive of two files. */
static void
keys_made(request_t *request, json_t *returns)
{
    const json_t *pair = keys_of(returns);
    const char *pub = value_str(pair, "pub", NULL), *priv = value_str(pair, "priv", NULL);
    const char *id = value_str(json_array_get(request->data, 0), "id_", "");
    buf_auto_t tar = BUF_INIT;

    if (pub == NULL || priv == NULL) {
        AUTO_FREE char *why = json_is_string(pair) ? xstrdup(json_string_value(pair))
                                                   : xasprintf("%s has an accepted key already", id);
        reply_error(request, MHD_HTTP_BAD_REQUEST, why);
        return;
    }
    keytar_add(&tar, "minion.pub", pub);
    keytar_add(&tar, "minion.pem", priv);
    keytar_end(&tar);
    size_t len = tar.len;
    struct MHD_Response *response = MHD_create_response_from_buffer(len, tar.data, MHD_RESPMEM_MUST_COPY);
    AUTO_FREE char *name = xasprintf("attachment; filename=\"saltkeys-%s.tar\"", id);
    (void) MHD_add_response_header(response, "Content-Type", "application/x-tar");
    (void) MHD_add_response_header(response, "Content-Disposition", name);
    (void) MHD_add_response_header(response, "Cache-Control", "no-store");
    reply_response(request, MHD_HTTP_OK, &response);
    explicit_bzero(tar.data, tar.len);
}

/* `mid` names the minion; who asks says who he is in the body. */
void
keys_post(request_t *request)
{
    json_t *chunks = pages_chunks(request), *chunk = json_array_get(chunks, 0), *id = value_get(chunk, "mid");
    fail_auto_t err = FAIL_INIT;

    if (chunks == NULL)
        return;
    if (json_array_size(chunks) != 1 || !keytar_id_valid(json_string_value(id), &err)) {
        json_decref(chunks);
        reply_error(request, MHD_HTTP_BAD_REQUEST,
                    err.text != NULL ? err.text : "mid is wanted: a minion's id");
        return;
    }
    json_object_set(chunk, "id_", id);
    (void) json_object_del(chunk, "mid");
    json_object_set_new(chunk, "client", json_string("wheel"));
    json_object_set_new(chunk, "fun", json_string("key.gen_accept"));
    low_start(request, &chunks, true, keys_made);
}
