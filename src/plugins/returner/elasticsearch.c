/* elasticsearch.c - returner `elasticsearch`: a document for each return, event or job, by the bulk
 * interface.
 *
 * Documents have ids of what they are (JID-MINION, JID, MASTER-NUMBER of an event), so that a repeat writes
 * the same one. The server is that of Salt's module of the same name: the option `elasticsearch`. */
#include <time.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "plugins/lib/http/web.h"
#include "plugins/lib/returner/retopts.h"
#include "salt/log.h"

/* ANSWER_MAX bounds what is read of a server; INDEX_MAX is Elasticsearch's own bound of a name, in bytes. */
enum { ANSWER_MAX = 64 * 1024 * 1024, TIMEOUT_S = 10, DAY_LEN = 16, INDEX_MAX = 255 };
#define INDEX_VERSION "-v1" /* behind an index's name in that of the first one for it */
enum { REFUSED_STATUS = 400, LARGE_STATUS = 413 };

static const retopt_t options[] = {
    { "doc_type", NULL, NULL },
    { "functions_blacklist", NULL, "[]" },
    { "index_date", NULL, "false" },
    { "master_event_index", NULL, "\"salt-master-event-cache\"" },
    { "master_event_doc_type", NULL, NULL },
    { "master_job_cache_index", NULL, "\"salt-master-job-cache\"" },
    { "master_job_cache_doc_type", NULL, NULL },
    { "number_of_shards", NULL, "1" },
    { "number_of_replicas", NULL, "0" },
    { "states_order_output", NULL, "false" },
    { "states_count", NULL, "false" },
    { "states_single_index", NULL, "false" },
};

static json_t *
elastic_options(call_ctx_t *ctx, const json_t *ret)
{
    return retopts(ctx, "elasticsearch", ret, options, NELEMS(options));
}

/* ---- the server ---------------------------------------------------------------------------------------- */

/* One request: the status in *ret_status, the answer in `answer`. */
static int
elastic_ask(call_ctx_t *ctx, const char *method, const char *path, const buf_t *body, long *ret_status,
            buf_t *answer, fail_t *err)
{
    const json_t *server = retopts_setting(ctx, "elasticsearch");
    json_t *hosts = value_get(server, "host") != NULL ? value_get(server, "host")
                                                      : value_get(server, "hosts");
    const char *user = value_str(server, "username", NULL), *password = value_str(server, "password", NULL);
    web_auto_t web = WEB_INIT;

    /* The first host alone is asked; its text may be a whole address. */
    const char *host = json_is_array(hosts) ? json_string_value(json_array_get(hosts, 0))
                                            : json_string_value(hosts);
    AUTO_FREE char *base = host != NULL && strstr(host, "://") != NULL
                               ? xstrdup(host)
                               : xasprintf("%s://%s", value_bool(server, "use_ssl", false) ? "https" : "http",
                                           host != NULL ? host : "127.0.0.1:9200");
    AUTO_FREE char *url = xasprintf("%s/%s", base, path);
    if (web_open(&web, CURLPROTO_HTTP | CURLPROTO_HTTPS, 0, answer, err) < 0)
        return err->code;
    web_text(&web, CURLOPT_URL, url);
    if (body != NULL) {
        web_field(&web, "Content-Type: application/json");
        web_send(&web, body);
    }
    web_text(&web, CURLOPT_CUSTOMREQUEST, method);
    if (user != NULL && password != NULL) {
        web_text(&web, CURLOPT_USERNAME, user);
        web_text(&web, CURLOPT_PASSWORD, password);
    }
    if (!value_bool(server, "verify_certs", true))
        web_insecure(&web);
    if (value_str(server, "ca_certs", NULL) != NULL)
        web_text(&web, CURLOPT_CAINFO, value_str(server, "ca_certs", NULL));
    web_limit(&web, ANSWER_MAX);
    web_seconds(&web, CURLOPT_TIMEOUT_MS, value_num(server, "timeout", TIMEOUT_S));
    int rc = web_run(&web, err);
    if (rc < 0)
        return rc;
    *ret_status = web.status;
    return web.trouble == NULL
               ? 0
               : fail_kind(err, FAIL_COMMAND, -EIO, "Elasticsearch: %s: %s", base, web.trouble);
}

/* -EBADMSG: the server does not want this at all; -E2BIG: not as much at once. */
static int
elastic_refused(const char *what, long status, const buf_t *answer, fail_t *err)
{
    int rc = status == REFUSED_STATUS ? -EBADMSG : status == LARGE_STATUS ? -E2BIG : -EIO;

    return fail_kind(err, FAIL_COMMAND, rc, "Elasticsearch: %s: the server answers %ld: %.300s", what, status,
                     buf_str(answer));
}

/* Makes the index, with its name as an alias, where it is not there. Once in a context. */
static int
elastic_ensure(call_ctx_t *ctx, const json_t *opts, const char *index, fail_t *err)
{
    AUTO_FREE char *known = xasprintf("elasticsearch.index.%s", index),
                   *path = xasprintf("%s" INDEX_VERSION, index);
    buf_auto_t answer = BUF_INIT, body = BUF_INIT, made = BUF_INIT;
    long status = 0;

    if (value_get(ctx_context(ctx), known) != NULL)
        return 0;
    int rc = elastic_ask(ctx, "GET", index, NULL, &status, &answer, err);
    /* The index itself has a version in its name, so that it can be made anew behind the alias. Another one
     * who made it meanwhile is no failure. */
    if (rc == 0 && status == 404) {
        json_auto_t *definition = json_pack("{s:{s:O, s:O}, s:{s:{}}}", "settings", "number_of_shards",
                                            value_get(opts, "number_of_shards"), "number_of_replicas",
                                            value_get(opts, "number_of_replicas"), "aliases", index);
        AUTO_FREE char *text = value_dump(definition);
        buf_puts(&body, text);
        rc = elastic_ask(ctx, "PUT", path, &body, &status, &made, err);
        if (rc == 0 && status / 100 != 2 && strstr(buf_str(&made), "already_exists") == NULL)
            rc = elastic_refused(path, status, &made, err);
    } else if (rc == 0 && status / 100 != 2) {
        rc = elastic_refused(index, status, &answer, err);
    }
    if (rc == 0)
        json_object_set_new(ctx_context(ctx), known, json_true());
    return rc;
}

/* ---- documents ----------------------------------------------------------------------------------------- */

/* The index of a name, with index_date one for each day of local time: "salt-x-2026.11.26". NEW. */
static char *
elastic_index(const json_t *opts, const char *name)
{
    time_t now = time(NULL);
    struct tm tm;
    char day[DAY_LEN];

    if (!value_bool(opts, "index_date", false))
        return xstrdup(name);
    (void) localtime_r(&now, &tm);
    (void) strftime(day, sizeof(day), "%Y.%m.%d", &tm);
    return xasprintf("%s-%s", name, day);
}

/* Elasticsearch's rules for names of indices, of one that begins with "salt-"; it becomes part of an address,
 * too. */
static bool
is_index_name(const char *name)
{
    return strlen(name) + strlen(INDEX_VERSION) <= INDEX_MAX &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0';
}

/* Two lines of a bulk request: where the document goes, TAKES id (NULL: the server makes one), and the
 * document. */
static int
elastic_add(call_ctx_t *ctx, const json_t *opts, const char *index, const char *type, json_t *id,
            const json_t *document, buf_t *bulk, fail_t *err)
{
    json_auto_t *action = json_pack("{s:{s:s, s:s*, s:o*}}", "index", "_index", index, "_type", type, "_id",
                                    id);
    AUTO_FREE char *head = value_dump(action), *text = value_dump(document);
    int rc = elastic_ensure(ctx, opts, index, err);

    if (rc < 0)
        return rc;
    buf_printf(bulk, "%s\n", head);
    buf_puts(bulk, text);
    buf_putc(bulk, '\n');
    return 0;
}

/* Names of fields have no dots. NEW. */
static json_t *
elastic_keys(const json_t *data)
{
    json_t *out, *v;
    const char *key;
    size_t i;

    if (json_is_array(data)) {
        out = json_array();
        json_array_foreach ((json_t *) data, i, v)
            json_array_append_new(out, elastic_keys(v));
        return out;
    }
    if (!json_is_object(data))
        return data != NULL ? json_incref((json_t *) data) : json_null();
    out = json_object();
    json_object_foreach ((json_t *) data, key, v) {
        AUTO_FREE char *name = str_replace(key, ".", "_");
        if (strchr(key, '.') != NULL)
            json_object_set_new(out, "_orig_key", json_string(key));
        json_object_set_new(out, name, elastic_keys(v));
    }
    return out;
}

static bool
is_state_function(const char *fun)
{
    return str_eq(fun, "state.apply") || str_eq(fun, "state.highstate") || str_eq(fun, "state.sls");
}

/* States by names that sort as they ran: "07_|-pkg_|-...". NEW. */
static json_t *
elastic_ordered(const json_t *states)
{
    AUTO_FREE char *digits = xasprintf("%zu", json_object_size(states));
    json_t *out = json_object(), *state;
    const char *uid;

    json_object_foreach ((json_t *) states, uid, state) {
        json_t *own = json_copy(state);
        const char *end = uid, *next;
        while ((next = strstr(end, "_|-")) != NULL)
            end = next + strlen("_|-");
        json_object_set_new(own, "_func", value_fmt("%.*s.%s", (int) strcspn(uid, "_"), uid, end));
        AUTO_FREE char *name = xasprintf("%0*lld_|-%s", (int) strlen(digits),
                                         (long long) value_int(state, "__run_num__", 0), uid);
        json_object_set_new(out, name, own);
    }
    return out;
}

/* Numbers of states that failed and of all others, among them those of test mode. */
static json_t *
elastic_counts(const json_t *states)
{
    json_int_t failed = 0, succeeded = 0;
    const char *uid;
    json_t *state;

    json_object_foreach ((json_t *) states, uid, state) {
        if (json_is_false(value_get(state, "result")))
            failed++;
        else
            succeeded++;
    }
    return json_pack("{s:I, s:I}", "succeeded", succeeded, "failed", failed);
}

/* -EBADMSG: the function, which a minion may claim, makes no index. */
static int
elastic_add_ret(call_ctx_t *ctx, const json_t *opts, const json_t *ret, buf_t *bulk, fail_t *err)
{
    json_t *name = value_get(ret, "fun"), *data = value_get(ret, "return");
    AUTO_FREE char *fun = value_pystr(name != NULL ? name : json_null()), *plain = str_replace(fun, ".", "_");
    bool states = is_state_function(fun), single = states && value_bool(opts, "states_single_index", false);
    AUTO_FREE char *whole = xasprintf("salt-%s", single ? "state_apply" : plain),
                   *dated = elastic_index(opts, whole);
    bool ordered = states && value_bool(opts, "states_order_output", false) && json_is_object(data);
    AUTO_FREE char *index = xasprintf("%s%s", dated, ordered ? "-ordered" : "");
    json_int_t retcode = value_int(ret, "retcode", 1);
    char stamp[CLOCK_STAMP_LEN];

    if (value_has(value_get(opts, "functions_blacklist"), name) || data == NULL || json_is_null(data))
        return 0;
    /* No function has a "-" in its name: an index with one there is another's, such as that of events. */
    if (!is_index_name(index) || strchr(plain, '-') != NULL)
        return fail_kind(err, FAIL_COMMAND, -EBADMSG,
                         "elasticsearch: no index can have the name that the function '%.100s' gives it",
                         fun);
    json_auto_t *shown = ordered                           ? elastic_ordered(data)
                         : states && !json_is_object(data) ? json_pack("{s:O}", "return", data)
                                                           : json_incref(data);
    clock_stamp(stamp, clock_wall_us());
    json_auto_t *document = json_pack(
        "{s:o, s:b, s:I, s:O, s:s, s:O, s:o, s:o}", "@timestamp", value_fmt("%s+00:00", stamp), "success",
        retcode == 0, "retcode", retcode, "minion", value_get(ret, "id"), "fun", fun, "jid",
        value_get(ret, "jid"), "counts",
        states && value_bool(opts, "states_count", false) ? elastic_counts(shown) : json_object(), "data",
        elastic_keys(shown));
    return elastic_add(ctx, opts, index, value_str(opts, "doc_type", NULL),
                       value_fmt("%s-%s", value_str(ret, "jid", ""), value_str(ret, "id", "")), document,
                       bulk, err);
}

/* `seq`: its number, for followers; 0: none. */
static int
elastic_add_event(call_ctx_t *ctx, const json_t *opts, const json_t *event, json_int_t seq, buf_t *bulk,
                  fail_t *err)
{
    AUTO_FREE char *index = elastic_index(opts, value_str(opts, "master_event_index", ""));
    const char *stamp = value_str(value_get(event, "data"), "_stamp", NULL);
    json_auto_t *document = json_pack("{s:O, s:O?}", "tag", value_get(event, "tag"), "data",
                                      value_get(event, "data"));

    if (stamp != NULL)
        json_object_set_new(document, "@timestamp", value_fmt("%s+00:00", stamp));
    return elastic_add(ctx, opts, index, value_str(opts, "master_event_doc_type", NULL),
                       seq > 0 ? value_fmt("%s-%lld", ctx_id(ctx), (long long) seq) : NULL, document, bulk,
                       err);
}

/* What a job was published with, under its jid: a repeat overwrites it. */
static int
elastic_add_load(call_ctx_t *ctx, const json_t *opts, const char *jid, const json_t *load, buf_t *bulk,
                 fail_t *err)
{
    json_auto_t *document = json_pack("{s:s, s:O}", "jid", jid, "load", load);

    return elastic_add(ctx, opts, value_str(opts, "master_job_cache_index", ""),
                       value_str(opts, "master_job_cache_doc_type", NULL), json_string(jid), document, bulk,
                       err);
}

/* Sends what was gathered. What the server can't take now is an error of all: each has an id, and comes
 * again. -E2BIG: all together they are too large. */
static int
elastic_send(call_ctx_t *ctx, const buf_t *bulk, fail_t *err)
{
    buf_auto_t answer = BUF_INIT;
    long status = 0;
    int rc = bulk->len > 0 ? elastic_ask(ctx, "POST", "_bulk", bulk, &status, &answer, err) : 0;

    if (rc < 0 || bulk->len == 0)
        return rc;
    json_auto_t *said = value_parse(buf_str(&answer), answer.len, ANSWER_MAX, "_bulk", NULL);
    if (status / 100 != 2 || !json_is_boolean(value_get(said, "errors")))
        return elastic_refused("_bulk", status, &answer, err);
    if (!value_bool(said, "errors", false))
        return 0;
    /* Looks at the answer for each document. What the server refuses for what it is, such as a text where the
     * index has numbers, is left out with a line of the log, as it would keep all that follows back for ever.
     * 0, or negative when one is to come again. */
    json_t *item, *one;
    const char *action;
    size_t i;
    json_array_foreach (value_get(said, "items"), i, item) {
        json_object_foreach (item, action, one) {
            json_int_t code = value_int(one, "status", 0);
            if (code / 100 == 2)
                continue;
            if (code != REFUSED_STATUS)
                return elastic_refused("_bulk", status, &answer, err);
            AUTO_FREE char *why = value_dump(value_get(one, "error"));
            log_error("elasticsearch: left out, as the server refuses it: %s of %s: %.1000s",
                      value_str(one, "_id", "a document"), value_str(one, "_index", "?"), why);
        }
    }
    return value_get(said, "items") != NULL ? 0 : elastic_refused("_bulk", status, &answer, err);
}

/* ---- functions ----------------------------------------------------------------------------------------- */

static int
elastic_returner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *ret = value_get(args, "ret");
    json_auto_t *opts = elastic_options(ctx, ret);
    buf_auto_t bulk = BUF_INIT;
    int rc = elastic_add_ret(ctx, opts, ret, &bulk, err);

    return rc < 0 ? rc : elastic_send(ctx, &bulk, err);
}

static int
elastic_events(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *opts = elastic_options(ctx, NULL);
    buf_auto_t bulk = BUF_INIT;
    json_t *event;
    size_t i;
    int rc = 0;

    json_array_foreach (value_get(args, "events"), i, event)
        rc = rc < 0 ? rc : elastic_add_event(ctx, opts, event, 0, &bulk, err);
    return rc < 0 ? rc : elastic_send(ctx, &bulk, err);
}

static int
elastic_save_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *opts = elastic_options(ctx, NULL);
    buf_auto_t bulk = BUF_INIT;
    int rc = elastic_add_load(ctx, opts, value_str(args, "jid", ""), value_get(args, "load"), &bulk, err);

    return rc < 0 ? rc : elastic_send(ctx, &bulk, err);
}

static int
elastic_gather(call_ctx_t *ctx, const json_t *opts, const json_t *write, buf_t *bulk, fail_t *err)
{
    const json_t *event = value_get(write, "event"), *ret = value_get(write, "ret");

    if (event != NULL)
        return elastic_add_event(ctx, opts, event, value_int(write, "seq", 0), bulk, err);
    if (ret != NULL) {
        /* Adds a return of a batch. One that can't be stored at all is left out, as it would keep back all
         * that follow. */
        fail_auto_t why = FAIL_INIT;
        int rc = elastic_add_ret(ctx, opts, ret, bulk, &why);
        if (rc != -EBADMSG)
            return rc < 0 ? fail_kind(err, why.kind, rc, "%s", fail_text(&why)) : 0;
        log_error("left out: the return of '%s' in job %s: %s", value_str(ret, "id", ""),
                  value_str(ret, "jid", ""), fail_text(&why));
        return 0;
    }
    return elastic_add_load(ctx, opts, value_str(write, "jid", ""), value_get(write, "load"), bulk, err);
}

/* Each write in a request of its own. One that is too large even so is left out. */
static int
elastic_send_each(call_ctx_t *ctx, const json_t *opts, const json_t *writes, fail_t *err)
{
    const json_t *write;
    size_t i;

    json_array_foreach ((json_t *) writes, i, write) {
        buf_auto_t bulk = BUF_INIT;
        fail_auto_t why = FAIL_INIT;
        int rc = elastic_gather(ctx, opts, write, &bulk, err);
        rc = rc < 0 ? rc : elastic_send(ctx, &bulk, &why);
        if (rc == -E2BIG)
            log_error("elasticsearch: left out, as the server refuses it: %s: %.*s", fail_text(&why),
                      (int) strcspn(buf_str(&bulk), "\n"), buf_str(&bulk));
        else if (rc < 0)
            return fail_kind(err, FAIL_COMMAND, rc, "%s", fail_text(err->text != NULL ? err : &why));
    }
    return 0;
}

/* Writes of a follower, in one request: one that is too large is tried again write by write. */
static int
elastic_batch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *opts = elastic_options(ctx, NULL);
    const json_t *writes = value_get(args, "writes"), *write;
    buf_auto_t bulk = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    size_t i;
    int rc = 0;

    json_array_foreach ((json_t *) writes, i, write)
        rc = rc < 0 ? rc : elastic_gather(ctx, opts, write, &bulk, &why);
    rc = rc < 0 ? rc : elastic_send(ctx, &bulk, &why);
    if (rc == -E2BIG)
        return elastic_send_each(ctx, opts, writes, err);
    return rc < 0 ? fail_kind(err, FAIL_COMMAND, rc, "%s", fail_text(&why)) : 0;
}

static int
elastic_get_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *opts = elastic_options(ctx, NULL);
    AUTO_FREE char *path = xasprintf("%s/%s/%s", value_str(opts, "master_job_cache_index", ""),
                                     value_str(opts, "master_job_cache_doc_type", "_doc"),
                                     value_str(args, "jid", ""));
    buf_auto_t answer = BUF_INIT;
    long status = 0;

    if (!clock_is_jid(value_str(args, "jid", ""))) { /* it becomes part of an address */
        *ret_value = json_object();
        return 0;
    }
    int rc = elastic_ask(ctx, "GET", path, NULL, &status, &answer, err);
    if (rc < 0)
        return rc;
    if (status / 100 != 2 && status != 404)
        return elastic_refused(path, status, &answer, err);
    json_auto_t *said = value_parse(buf_str(&answer), answer.len, ANSWER_MAX, "the document", NULL);
    json_t *load = value_get(value_get(said, "_source"), "load");
    *ret_value = load != NULL ? json_incref(load) : json_object();
    return 0;
}

static const func_t funcs[] = {
    RET_ROW_RETURNER(elastic_returner), RET_ROW_EVENTS(elastic_events), RET_ROW_PREP,
    RET_ROW_SAVE(elastic_save_load),    RET_ROW_LOAD(elastic_get_load), RET_ROW_BATCH(elastic_batch),
};

PLUGIN(returner, elasticsearch, .doc = "Keep jobs, returns and events as documents of Elasticsearch",
       FUNCS(funcs));
