/* influxdb.c - returner `influxdb`: jobs and returns as points of an InfluxDB of version 1, as Salt's
 * returner writes them: `jids` with the tag jid and the field load, `returns` with the tags fun, id and jid
 * and the fields return and full_ret.
 *
 * A point's time is its job's, so that a repeat is the same point. Source: InfluxDB's line protocol and HTTP
 * API. */
#include <time.h>

#include "common/base/base64.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "plugins/lib/http/http_int.h"
#include "plugins/lib/http/web.h"
#include "plugins/lib/returner/httpreturn.h"

enum { ANSWER_MAX = 64 * 1024 * 1024, TIMEOUT_S = 30, JID_SECONDS = 14, JID_LEN = 20 };

static const retopt_t options[] = { { "host", NULL, "\"localhost\"" },
                                    { "port", NULL, "8086" },
                                    { "db", NULL, "\"salt\"" },
                                    { "user", NULL, NULL },
                                    { "password", NULL, NULL } };

/* ---- the address --------------------------------------------------------------------------------------- */

/* "http://host:port/PATH?db=..." with further members of a query. NEW. */
static char *
influx_url(const json_t *opts, const char *path, const char *sql)
{
    json_auto_t *query = json_pack("{s:s, s:s*}", "db", value_str(opts, "db", ""), "q", sql);
    AUTO_FREE char *port = value_pystr(value_get(opts, "port"));
    buf_auto_t form = BUF_INIT;

    http_form(query, &form);
    return xasprintf("http://%s:%s/%s?%s", value_str(opts, "host", ""), port, path, buf_str(&form));
}

/* The line of a request's header that says who asks. NEW; NULL: nobody. */
static char *
influx_login(const json_t *opts)
{
    const char *user = value_str(opts, "user", NULL);
    AUTO_FREE char *both = xasprintf("%s:%s", user != NULL ? user : "", value_str(opts, "password", ""));
    AUTO_FREE char *text = base64_encode(both, strlen(both), 0);

    return user != NULL ? xasprintf("Authorization: Basic %s", text) : NULL;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

/* Appends a text with a backslash before each of `special`. */
static void
influx_escape(buf_t *out, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            buf_puts(out, "\\n");
            continue;
        }
        if (strchr(special, *text) != NULL)
            buf_putc(out, '\\');
        buf_putc(out, *text);
    }
}

/* Appends a tag. The line protocol escapes commas, equal signs and blanks in its value. */
static void
influx_tag(buf_t *out, const char *name, const char *value)
{
    buf_printf(out, ",%s=", name);
    influx_escape(out, value, "\\ ,=");
}

/* Appends a field, a text of JSON. */
static void
influx_field(buf_t *out, const char *name, const json_t *value)
{
    AUTO_FREE char *text = ret_json(value);

    buf_printf(out, "%s=\"", name);
    influx_escape(out, text, "\\\"");
    buf_putc(out, '"');
}

/* Appends the time of a jid in nanoseconds; nothing for another text, which gets the server's time. */
static void
influx_time(buf_t *out, const char *jid)
{
    struct tm tm = { .tm_isdst = -1 };
    AUTO_FREE char *seconds = xstrndup(jid, JID_SECONDS);

    if (!clock_is_jid(jid) || strlen(jid) < JID_LEN || strptime(seconds, "%Y%m%d%H%M%S", &tm) == NULL)
        return;
    buf_printf(out, " %lld%.*s000", (long long) mktime(&tm), JID_LEN - JID_SECONDS, jid + JID_SECONDS);
}

/* Ends the point with its time and fills the request. `type`: curl would call the body a form otherwise. */
static void
influx_post(const json_t *opts, const char *jid, httppost_t *post)
{
    influx_time(&post->body, jid);
    buf_putc(&post->body, '\n');
    post->url = influx_url(opts, "write", NULL);
    post->header = influx_login(opts);
    post->type = "application/octet-stream";
}

/* A return: its value is a field of its own, and the rest is "full_ret", as Salt has it. */
static int
influx_ret(call_ctx_t *ctx, const json_t *opts, const json_t *ret, httppost_t *post, fail_t *err)
{
    json_auto_t *rest = json_copy((json_t *) ret), *value = json_incref(value_get(ret, "return"));
    json_t *name = value_get(ret, "fun");
    AUTO_FREE char *fun = value_pystr(name != NULL ? name : json_null());

    json_object_del(rest, "return");
    buf_puts(&post->body, "returns");
    influx_tag(&post->body, "fun", fun);
    influx_tag(&post->body, "id", value_str(ret, "id", ""));
    influx_tag(&post->body, "jid", value_str(ret, "jid", ""));
    buf_putc(&post->body, ' ');
    influx_field(&post->body, "full_ret", rest);
    buf_putc(&post->body, ',');
    influx_field(&post->body, "return", value != NULL ? value : json_null());
    influx_post(opts, value_str(ret, "jid", ""), post);
    return 0;
}

static int
influx_load(call_ctx_t *ctx, const json_t *opts, const json_t *job, httppost_t *post, fail_t *err)
{
    buf_puts(&post->body, "jids");
    influx_tag(&post->body, "jid", value_str(job, "jid", ""));
    buf_putc(&post->body, ' ');
    influx_field(&post->body, "load", value_get(job, "load"));
    influx_post(opts, value_str(job, "jid", ""), post);
    return 0;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* NEW answer of the server to a statement, or NULL with *err. */
static json_t *
influx_answer(const json_t *opts, const char *sql, fail_t *err)
{
    web_auto_t web = WEB_INIT;
    buf_auto_t answer = BUF_INIT;
    AUTO_FREE char *url = influx_url(opts, "query", sql), *login = influx_login(opts);

    if (web_open(&web, CURLPROTO_HTTP | CURLPROTO_HTTPS, 0, &answer, err) < 0)
        return NULL;
    web_text(&web, CURLOPT_URL, url);
    if (login != NULL)
        web_field(&web, login);
    web_limit(&web, ANSWER_MAX);
    web_seconds(&web, CURLOPT_TIMEOUT_MS, TIMEOUT_S);
    if (web_run(&web, err) < 0)
        return NULL;
    if (web.trouble == NULL && web.status == 200)
        return value_parse_peer(buf_str(&answer), answer.len, ANSWER_MAX, "InfluxDB's answer", err);
    (void) fail_kind(err, FAIL_COMMAND, -EIO, "InfluxDB: %s%.300s (status %ld)",
                     web.trouble != NULL ? web.trouble : "", buf_str(&answer), web.status);
    return NULL;
}

/* NEW rows as objects {column: value}, tags of `group by` among them, or NULL with *err. `name` stands for %s
 * in the statement. */
static json_t *
influx_rows(call_ctx_t *ctx, const char *sql, const char *name, fail_t *err)
{
    json_auto_t *opts = retopts(ctx, "influxdb", NULL, options, NELEMS(options));
    buf_auto_t quoted = BUF_INIT, whole = BUF_INIT;
    const char *at = strstr(sql, "%s");
    json_t *series, *values;
    size_t i, j, k;

    influx_escape(&quoted, name, "\\'");
    buf_printf(&whole, "%.*s%s%s", (int) (at != NULL ? at - sql : (ptrdiff_t) strlen(sql)), sql,
               buf_str(&quoted), at != NULL ? at + 2 : "");
    json_auto_t *answer = influx_answer(opts, buf_str(&whole), err);
    json_t *result = json_array_get(value_get(answer, "results"), 0);
    if (answer == NULL)
        return NULL;
    if (value_str(result, "error", NULL) != NULL) {
        (void) fail_kind(err, FAIL_COMMAND, -EIO, "InfluxDB: %.300s", value_str(result, "error", ""));
        return NULL;
    }
    json_t *rows = json_array();
    /* A series has {name, tags, columns, values: [[...]]}; a value that is missing is null. */
    json_array_foreach (value_get(result, "series"), i, series) {
        json_array_foreach (value_get(series, "values"), j, values) {
            json_t *tags = value_get(series, "tags"),
                   *row = json_is_object(tags) ? json_copy(tags) : json_object(), *column;
            json_array_foreach (value_get(series, "columns"), k, column)
                if (json_is_string(column) && json_array_get(values, k) != NULL)
                    json_object_set(row, json_string_value(column), json_array_get(values, k));
            json_array_append_new(rows, row);
        }
    }
    return rows;
}

/* NEW value of a field; null when it is no text of JSON. */
static json_t *
influx_value(const json_t *row, const char *column)
{
    json_t *v = json_loads(value_str(row, column, "null"), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

    return v != NULL ? v : json_null();
}

static int
influx_get_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *rows = influx_rows(ctx, "select load from jids where jid = '%s' order by time desc limit 1",
                                    value_str(args, "jid", ""), err);

    if (rows == NULL)
        return err->code;
    *ret_value = json_array_size(rows) > 0 ? influx_value(json_array_get(rows, 0), "load") : json_object();
    return 0;
}

/* {id: full_ret with its return}. */
static int
influx_returns(call_ctx_t *ctx, const char *sql, const char *name, json_t **ret_value, fail_t *err)
{
    json_auto_t *rows = influx_rows(ctx, sql, name, err);
    json_t *row;
    size_t i;

    if (rows == NULL)
        return err->code;
    *ret_value = json_object();
    json_array_foreach (rows, i, row) {
        json_t *ret = influx_value(row, "full_ret");
        if (json_is_object(ret))
            json_object_set_new(ret, "return", influx_value(row, "return"));
        json_object_set_new(*ret_value, value_str(row, "id", ""), ret);
    }
    return 0;
}

static int
influx_get_jid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return influx_returns(ctx, "select id, full_ret, \"return\" from \"returns\" where jid = '%s'",
                          value_str(args, "jid", ""), ret_value, err);
}

static int
influx_get_fun(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return influx_returns(
        ctx,
        "select full_ret, \"return\" from \"returns\" where fun = '%s' group by id order by time desc "
        "limit 1",
        value_str(args, "fun", ""), ret_value, err);
}

static int
influx_get_jids(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *rows = influx_rows(ctx, "select jid, load from jids", "", err);
    json_t *row;
    size_t i;

    if (rows == NULL)
        return err->code;
    *ret_value = json_object();
    json_array_foreach (rows, i, row) {
        const char *jid = value_str(row, "jid", "");
        json_auto_t *load = influx_value(row, "load");
        json_object_set_new(*ret_value, jid, ret_job_instance(jid, load));
    }
    return 0;
}

static int
influx_get_minions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *rows = influx_rows(ctx, "show tag values from \"returns\" with key = \"id\"", "", err);
    json_t *row;
    size_t i;

    if (rows == NULL)
        return err->code;
    *ret_value = json_array();
    json_array_foreach (rows, i, row)
        json_array_append_new(*ret_value, json_string(value_str(row, "value", "")));
    return 0;
}

static const httpshape_t influx_shape = { .name = "influxdb",
                                          .options = options,
                                          .n_options = NELEMS(options),
                                          .ret = influx_ret,
                                          .load = influx_load };

static const func_t funcs[] = {
    RET_ROW_RETURNER(http_returner, .data.ptr = &influx_shape),
    RET_ROW_PREP,
    RET_ROW_SAVE(http_save_load, .data.ptr = &influx_shape),
    RET_ROW_LOAD(influx_get_load),
    RET_ROW_JID(influx_get_jid),
    RET_ROW_FUN(influx_get_fun),
    RET_ROW_JIDS(influx_get_jids),
    RET_ROW_MINIONS(influx_get_minions),
};

PLUGIN(returner, influxdb, .doc = "Keep jobs and returns in an InfluxDB", FUNCS(funcs));
