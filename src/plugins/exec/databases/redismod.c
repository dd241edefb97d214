/* redismod.c - execution module `redis`: keys, hashes and settings of a Redis server. A row's .data is the
 * command: words in capitals as they are, others are arguments of the function. Answers are those of Python's
 * client, which Salt calls: truths and numbers where the protocol has "OK" and texts. */
#include <math.h>

#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/database/resp.h"

/* ---- the connection ---------------------------------------------------------------------------- */

/* A kind of server, by the names of its options. A sentinel has neither databases nor defaults in the
 * configuration. */
typedef struct redis_kind {
    const char *options, *host, *port;
} redis_kind_t;

static const redis_kind_t server = { "redis", NULL, NULL };
static const redis_kind_t sentinel = { "redis_sentinel", "localhost", "26379" };

/* An argument by its name, which may be among the function's further keywords. BORROWED, or NULL. */
static json_t *
redis_argument(call_ctx_t *ctx, const json_t *args, const char *name)
{
    json_t *v = value_get(args, name);

    for (const arg_t *row = ctx_row(ctx)->args; v == NULL && row->text != NULL; row++)
        v = arg_is(row, ARG_STARSTAR) ? value_get(value_get(args, arg_name(row)), name) : NULL;
    return v;
}

/* Host, port, db or password as a text: the argument, else the option. "" when neither is set. NEW, or NULL with
 * *err. */
static char *
redis_access(call_ctx_t *ctx, const json_t *args, const redis_kind_t *kind, const char *name,
             const char *dflt, fail_t *err)
{
    json_t *given = redis_argument(ctx, args, name);
    AUTO_FREE char *option = xasprintf("%s.%s", kind->options, name);

    if (value_truthy(given))
        return value_pystr(given);
    json_auto_t *set = sub_call(ctx, err, "config.option", "{s:s, s:s*}", "value", option, "default", dflt);
    if (set == NULL)
        return NULL;
    return value_truthy(set) ? value_pystr(set) : xstrdup("");
}

/* Logs in and chooses the database before anything else is said: a command must not run as another user or in
 * another database when one of these is refused. */
static int
redis_enter(resp_t *line, const char *password, const char *db, fail_t *err)
{
    if (!str_empty(password))
        resp_add(line, "AUTH", password, NULL);
    if (!str_empty(db))
        resp_add(line, "SELECT", db, NULL);
    json_auto_t *said = resp_run(line, err);
    return said != NULL ? 0 : err->code;
}

/* NEW, or NULL with *err. */
static resp_t *
redis_open(call_ctx_t *ctx, const json_t *args, const redis_kind_t *kind, fail_t *err)
{
    AUTO_FREE char *host = redis_access(ctx, args, kind, "host", kind->host, err);
    AUTO_FREE char *port = redis_access(ctx, args, kind, "port", kind->port, err);
    AUTO_FREE char *password = redis_access(ctx, args, kind, "password", NULL, err);
    AUTO_FREE char *db = kind == &server ? redis_access(ctx, args, kind, "db", NULL, err) : xstrdup("");
    long long number = 0;

    if (host == NULL || port == NULL || password == NULL || db == NULL)
        return NULL;
    if (!str_to_int(port, 1, UINT16_MAX, &number)) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "Redis: the port must be a number up to %d, not '%s'",
                         UINT16_MAX, port);
        return NULL;
    }
    resp_t *line = resp_open(host, (int) number, NULL, err);
    if (line != NULL && redis_enter(line, password, db, err) < 0)
        resp_close(&line);
    if (line != NULL)
        resp_patience(line, LIMIT_SQL_ANSWER_S);
    return line;
}

/* ---- commands ---------------------------------------------------------------------------------- */

/* Appends a value as the text that is sent. True, None, lists and dicts are refused as by Python's client: who
 * sends one has most likely meant another value. */
static int
redis_word(json_t *words, const json_t *v, fail_t *err)
{
    if (json_is_string(v)) {
        json_array_append(words, (json_t *) v);
        return 0;
    }
    AUTO_FREE char *text = value_pystr(v);
    if (!json_is_number(v))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Redis: '%s' is neither a text nor a number; put it in quotes to send it as a text",
                         text);
    json_array_append_new(words, json_string(text));
    return 0;
}

/* The words of the running row's command; "NAME..." are all values of the argument NAME. NEW, or NULL with
 * *err. */
static json_t *
redis_words(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    char **parts = str_split(ctx_row(ctx)->data.text, " ", true);
    json_t *words = json_array();
    int rc = 0;

    for (char **part = parts; rc == 0 && *part != NULL; part++) {
        bool all = str_ends(*part, "...");
        AUTO_FREE char *name = xstrndup(*part, strlen(*part) - (all ? strlen("...") : 0));
        json_t *v = value_get(args, name);
        for (size_t i = 0; rc == 0 && all && i < json_array_size(v); i++)
            rc = redis_word(words, json_array_get(v, i), err);
        if (v == NULL)
            json_array_append_new(words, json_string(name));
        else if (!all)
            rc = redis_word(words, v, err);
    }
    strv_free(parts);
    if (rc == 0)
        return words;
    json_decref(words);
    return NULL;
}

/* Sends one command and returns its reply. NEW, or NULL with *err. */
static json_t *
redis_say(resp_t *line, const json_t *words, fail_t *err)
{
    resp_add_list(line, words);
    json_auto_t *replies = resp_run(line, err);
    return replies != NULL ? json_incref(json_array_get(replies, 0)) : NULL;
}

/* The reply to these words on a connection of the call's own. NEW, or NULL with *err. */
static json_t *
redis_ask(call_ctx_t *ctx, const json_t *args, const json_t *words, fail_t *err)
{
    resp_auto_t *line = words != NULL ? redis_open(ctx, args, &server, err) : NULL;

    return line != NULL ? redis_say(line, words, err) : NULL;
}

/* The reply to the row's command. */
static json_t *
redis_reply(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_auto_t *words = redis_words(ctx, args, err);

    return redis_ask(ctx, args, words, err);
}

/* ---- shapes of replies ------------------------------------------------------------------------- */

/* {first: second, third: fourth, ...}. NEW. */
static json_t *
redis_dict(const json_t *list)
{
    json_t *dict = json_object();

    for (size_t i = 0; i + 1 < json_array_size(list); i += 2) {
        AUTO_FREE char *key = value_pystr(json_array_get(list, i));
        json_object_set(dict, key, json_array_get(list, i + 1));
    }
    return dict;
}

/* As the server says it. */
static int
redis_plain(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = redis_reply(ctx, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* True for 1 and for "OK", and for what the background processes say. */
static int
redis_truth(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = redis_reply(ctx, args, err);

    if (reply == NULL)
        return err->code;
    *ret_value = json_boolean(json_is_string(reply) || json_integer_value(reply) != 0);
    return 0;
}

static int
redis_pairs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = redis_reply(ctx, args, err);

    if (reply == NULL)
        return err->code;
    *ret_value = redis_dict(reply);
    return 0;
}

/* Redis writes fractions as texts. */
static int
redis_fraction(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = redis_reply(ctx, args, err);

    if (reply == NULL)
        return err->code;
    *ret_value = json_real(strtod(json_is_string(reply) ? json_string_value(reply) : "0", NULL));
    return 0;
}

/* Seconds, without the microseconds. */
static int
redis_time(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = redis_reply(ctx, args, err);
    json_t *seconds = json_array_get(reply, 0);
    long long n = 0;

    if (reply == NULL)
        return err->code;
    if (!json_is_string(seconds) || !str_to_int(json_string_value(seconds), 0, INT64_MAX, &n))
        return fail_kind(err, FAIL_COMMAND, -EPROTO, "Redis: TIME answered without seconds");
    *ret_value = json_integer(n);
    return 0;
}

/* ---- info -------------------------------------------------------------------------------------- */

/* A number where it is one to Python. NEW. */
static json_t *
info_number(const char *text)
{
    long long n;
    char *end = NULL;

    if (strchr(text, '.') == NULL)
        return str_to_int(text, INT64_MIN, INT64_MAX, &n) ? json_integer(n) : json_string(text);
    double d = strspn(text, "+-.0123456789eE") == strlen(text) ? strtod(text, &end) : NAN;
    return end != NULL && end != text && *end == '\0' && isfinite(d) ? json_real(d) : json_string(text);
}

/* "keys=1,expires=0" is a dict, anything else a number or a text. NEW. */
static json_t *
info_value(const char *text)
{
    if (strchr(text, ',') == NULL || strchr(text, '=') == NULL)
        return info_number(text);
    char **parts = str_split(text, ",", false);
    json_t *dict = json_object();
    for (char **part = parts; *part != NULL; part++) {
        char *equals = strrchr(*part, '=');
        AUTO_FREE char *key = xstrndup(*part, equals != NULL ? (size_t) (equals - *part) : strlen(*part));
        json_object_set_new(dict, key, info_number(equals != NULL ? equals + 1 : ""));
    }
    strv_free(parts);
    return dict;
}

/* The lines of INFO as a dict. Lines of modules are a list, as there may be several. NEW, or NULL with *err. */
static json_t *
redis_info_of(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_auto_t *words = json_pack("[s]", "INFO"), *reply = redis_ask(ctx, args, words, err);

    if (reply == NULL)
        return NULL;
    char **lines = str_split(json_is_string(reply) ? json_string_value(reply) : "", "\r\n", true);
    json_t *info = json_object();
    for (char **line = lines; *line != NULL; line++) {
        char *colon = str_starts(*line, "cmdstat_host:") ? strrchr(*line, ':') : strchr(*line, ':');
        if (**line == '#' || colon == NULL)
            continue;
        *colon = '\0';
        if (!str_eq(*line, "module")) {
            json_object_set_new(info, *line, info_value(colon + 1));
            continue;
        }
        if (value_get(info, "modules") == NULL)
            json_object_set_new(info, "modules", json_array());
        json_array_append_new(value_get(info, "modules"), info_value(colon + 1));
    }
    strv_free(lines);
    return info;
}

static int
redis_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = redis_info_of(ctx, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Empty texts where the server is no replica. */
static int
redis_get_master_ip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *info = redis_info_of(ctx, args, err), *none = json_string("");
    json_t *host = value_get(info, "master_host"), *port = value_get(info, "master_port");

    if (info == NULL)
        return err->code;
    *ret_value = json_pack("{s:O, s:O}", "master_host", host != NULL ? host : none, "master_port",
                           port != NULL ? port : none);
    return 0;
}

/* ---- commands of a shape of their own ---------------------------------------------------------- */

static int
redis_hmset(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char access[] = " host port db password ";
    json_auto_t *words = json_pack("[s]", "HMSET");
    json_t *given = value_get(args, "fieldsvals"), *v;
    const char *name;
    int rc = redis_word(words, value_get(args, "key"), err);

    json_object_foreach (given, name, v) {
        AUTO_FREE char *inside = xasprintf(" %s ", name);
        if (rc < 0 || strstr(access, inside) != NULL || str_starts(name, "__"))
            continue;
        json_array_append_new(words, json_string(name));
        rc = redis_word(words, v, err);
    }
    if (rc < 0)
        return rc;
    if (json_array_size(words) == 2)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Redis: no fields to set; pass them as FIELD=VALUE");
    json_auto_t *reply = redis_ask(ctx, args, words, err);
    *ret_value = reply != NULL ? json_true() : NULL;
    return reply != NULL ? 0 : err->code;
}

/* The answer is [next cursor, {field: value}]. */
static int
redis_hscan(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const more[] = { "match", "count" };
    json_auto_t *words = redis_words(ctx, args, err);

    for (size_t i = 0; words != NULL && i < NELEMS(more); i++) {
        json_t *v = value_get(args, more[i]);
        json_array_append_new(words, json_is_null(v) ? NULL : json_string(more[i]));
        if (!json_is_null(v) && redis_word(words, v, err) < 0)
            return err->code;
    }
    json_auto_t *reply = redis_ask(ctx, args, words, err);
    json_t *next = json_array_get(reply, 0);
    if (reply == NULL)
        return err->code;
    *ret_value = json_pack("[o, o]", info_number(json_is_string(next) ? json_string_value(next) : "0"),
                           redis_dict(json_array_get(reply, 1)));
    return 0;
}

/* Pings on a connection of its own: 1, 0 when there is none, or negative with *err. A server that asks for a
 * password or still reads its files is none yet, as by Python's client. */
static int
redis_alive(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *words = json_pack("[s]", "PING"), *reply = redis_ask(ctx, args, words, &why);

    if (reply != NULL)
        return json_is_string(reply) && str_eq(json_string_value(reply), "PONG");
    bool said = why.code == -EREMOTEIO || why.code == -EINVAL;
    if (!said || strstr(fail_text(&why), "NOAUTH ") != NULL || strstr(fail_text(&why), "LOADING ") != NULL)
        return 0;
    return fail_kind(err, why.kind, why.code, "%s", fail_text(&why));
}

static int
redis_ping(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int alive = redis_alive(ctx, args, err);

    *ret_value = alive >= 0 ? json_boolean(alive) : NULL;
    return alive < 0 ? alive : 0;
}

/* The server ends the connection instead of answering; True once it answers no more. */
static int
redis_shutdown(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *words = json_pack("[s]", "SHUTDOWN");
    fail_auto_t gone = FAIL_INIT;
    int alive = redis_alive(ctx, args, err);

    if (alive > 0) {
        json_decref(redis_ask(ctx, args, words, &gone));
        if (gone.code == -EREMOTEIO)
            return fail_kind(err, gone.kind, gone.code, "%s", fail_text(&gone));
        alive = redis_alive(ctx, args, err);
        *ret_value = alive >= 0 ? json_boolean(alive == 0) : NULL;
    } else if (alive == 0)
        *ret_value = json_false();
    return alive < 0 ? alive : 0;
}

/* Without a master the server becomes one. */
static int
redis_slaveof(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *host = value_get(args, "master_host"), *port = value_get(args, "master_port");
    json_auto_t *words = json_pack("[s]", "SLAVEOF"), *standard = json_integer(6379);
    int rc = 0;

    if (value_truthy(host) && !value_truthy(port))
        port = standard;
    if (json_is_null(host) && json_is_null(port)) {
        json_array_append_new(words, json_string("NO"));
        json_array_append_new(words, json_string("ONE"));
    } else if ((rc = redis_word(words, host, err)) == 0)
        rc = redis_word(words, port, err);
    json_auto_t *reply = rc == 0 ? redis_ask(ctx, args, words, err) : NULL;
    *ret_value = reply != NULL ? json_true() : NULL;
    return reply != NULL ? 0 : err->code;
}

static int
redis_sentinel_master(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    resp_auto_t *line = redis_open(ctx, args, &sentinel, err);
    json_auto_t *words = redis_words(ctx, args, err);
    json_auto_t *reply = line != NULL && words != NULL ? redis_say(line, words, err) : NULL;
    json_t *host = json_array_get(reply, 0), *port = json_array_get(reply, 1);

    if (reply == NULL)
        return err->code;
    if (!json_is_string(host) || !json_is_string(port)) {
        AUTO_FREE char *name = value_pystr(value_get(args, "master"));
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Redis: the sentinel knows no master '%s'", name);
    }
    *ret_value = json_pack("{s:O, s:o}", "master_host", host, "master_port",
                           info_number(json_string_value(port)));
    return 0;
}

/* ---- the table --------------------------------------------------------------------------------- */

#define ROW_HOST     ARG("host", ARG_STR, "null", "The server; by default the option redis.host")
#define ROW_PORT     ARG("port", ARG_ANY, "null", "Its port; by default the option redis.port")
#define ROW_DB       ARG("db", ARG_ANY, "null", "The database; by default the option redis.db")
#define ROW_LOGIN    ARG("password", ARG_STR, "null", "Password; by default the option redis.password")
#define ROWS_ACCESS  ROW_HOST, ROW_PORT, ROW_DB, ROW_LOGIN
#define ROW_KEY      ARG("key", ARG_ANY, ARG_REQUIRED, "The key")
#define ROW_FIELD    ARG("field", ARG_ANY, ARG_REQUIRED, "The field of the hash")
#define ROW_FIELDS   ARG("fields", ARG_ANY, ARG_STAR, "Fields of the hash")
#define ROW_VALUE    ARG("value", ARG_ANY, ARG_REQUIRED, "What is stored: a text or a number")
#define ROW_PATTERN  ARG("pattern", ARG_ANY, "\"*\"", "Glob that the names match")
#define ROW_MORE(of) ARG(of, ARG_ANY, ARG_STARSTAR, "host, port, db, password", "host port db password")

static const arg_t access_args[] = { ROWS_ACCESS, ARGS_END };
static const arg_t key_args[] = { ROW_KEY, ROWS_ACCESS, ARGS_END };
static const arg_t pattern_args[] = { ROW_PATTERN, ROWS_ACCESS, ARGS_END };
static const arg_t setting_args[] = { ARG("name", ARG_ANY, ARG_REQUIRED, "The setting"), ROW_VALUE,
                                      ROWS_ACCESS, ARGS_END };
static const arg_t delete_args[] = { ARG("keys", ARG_ANY, ARG_STAR, "Keys"), ROW_MORE("connection_args"),
                                     ARGS_END };
static const arg_t expire_args[] = { ROW_KEY, ARG("seconds", ARG_ANY, ARG_REQUIRED, "From now on"),
                                     ROWS_ACCESS, ARGS_END };
static const arg_t expireat_args[] = { ROW_KEY, ARG("timestamp", ARG_ANY, ARG_REQUIRED, "Seconds since 1970"),
                                       ROWS_ACCESS, ARGS_END };
static const arg_t fields_args[] = { ROW_KEY, ROW_FIELDS, ROW_MORE("options"), ARGS_END };
static const arg_t field_args[] = { ROW_KEY, ROW_FIELD, ROWS_ACCESS, ARGS_END };
static const arg_t hincrby_args[] = { ROW_KEY, ROW_FIELD, ARG("increment", ARG_ANY, "1", "A whole number"),
                                      ROWS_ACCESS, ARGS_END };
static const arg_t hincrbyfloat_args[] = { ROW_KEY, ROW_FIELD, ARG("increment", ARG_ANY, "1.0", "A number"),
                                           ROWS_ACCESS, ARGS_END };
static const arg_t hmset_args[] = {
    ROW_KEY, ARG("fieldsvals", ARG_ANY, ARG_STARSTAR, "Fields and their values; host, port, db, password"),
    ARGS_END
};
static const arg_t hset_args[] = { ROW_KEY, ROW_FIELD, ROW_VALUE, ROWS_ACCESS, ARGS_END };
static const arg_t hscan_args[] = { ROW_KEY,
                                    ARG("cursor", ARG_ANY, "0", "The last answer's; 0 begins anew"),
                                    ARG("match", ARG_ANY, "null", "Glob that the fields match"),
                                    ARG("count", ARG_ANY, "null", "About so many at once"),
                                    ROWS_ACCESS,
                                    ARGS_END };
static const arg_t range_args[] = { ROW_KEY, ARG("start", ARG_ANY, ARG_REQUIRED, "From 0 on; -1 is the last"),
                                    ARG("stop", ARG_ANY, ARG_REQUIRED, "This one included"), ROWS_ACCESS,
                                    ARGS_END };
static const arg_t set_args[] = { ROW_KEY, ROW_VALUE, ROWS_ACCESS, ARGS_END };
static const arg_t slaveof_args[] = { ARG("master_host", ARG_ANY, "null", "None: be a master"),
                                      ARG("master_port", ARG_ANY, "null", "By default 6379"), ROWS_ACCESS,
                                      ARGS_END };
static const arg_t sentinel_args[] = {
    ARG("master", ARG_ANY, ARG_REQUIRED, "Name of the master"),
    ARG("host", ARG_STR, "null", "The sentinel; by default the option redis_sentinel.host"),
    ARG("port", ARG_ANY, "null", "Its port; by default the option redis_sentinel.port"),
    ARG("password", ARG_STR, "null", "Password; by default the option redis_sentinel.password"), ARGS_END
};
static const arg_t master_args[] = { ROW_HOST, ROW_PORT, ROW_LOGIN, ARGS_END };

#define REDIS_FN(name, fn, args, flags, command, doc, example)                                               \
    ROW(name, fn, args, flags, doc CLI_EXAMPLE("salt '*' redis." example), .data.text = command)

static const func_t funcs[] = {
    REDIS_FN("bgrewriteaof", redis_truth, access_args, 0, "BGREWRITEAOF",
             "Begin to rewrite the append-only file.", "bgrewriteaof"),
    REDIS_FN("bgsave", redis_truth, access_args, 0, "BGSAVE", "Begin to save the data to disk.", "bgsave"),
    REDIS_FN("config_get", redis_pairs, pattern_args, FN_READONLY, "CONFIG GET pattern",
             "Return settings of the server.", "config_get port"),
    REDIS_FN("config_set", redis_truth, setting_args, 0, "CONFIG SET name value",
             "Change a setting of the running server.", "config_set masterauth luv_kittens"),
    REDIS_FN("dbsize", redis_plain, access_args, FN_READONLY, "DBSIZE",
             "Return the number of keys in the database.", "dbsize"),
    REDIS_FN("delete", redis_plain, delete_args, 0, "DEL keys...",
             "Delete keys; return how many of them were there.", "delete foo"),
    REDIS_FN("exists", redis_plain, key_args, FN_READONLY, "EXISTS key",
             "Return 1 if the key is there, else 0.", "exists foo"),
    REDIS_FN("expire", redis_truth, expire_args, 0, "EXPIRE key seconds",
             "Give a key a time to live; False if there is no such key.", "expire foo 300"),
    REDIS_FN("expireat", redis_truth, expireat_args, 0, "EXPIREAT key timestamp",
             "Say when a key ends; False if there is no such key.", "expireat foo 1400000000"),
    REDIS_FN("flushall", redis_truth, access_args, 0, "FLUSHALL", "Delete all keys of all databases.",
             "flushall"),
    REDIS_FN("flushdb", redis_truth, access_args, 0, "FLUSHDB", "Delete all keys of the database.",
             "flushdb"),
    REDIS_FN("get_key", redis_plain, key_args, FN_READONLY, "GET key",
             "Return the value of a key; None if there is no such key.", "get_key foo"),
    REDIS_FN("get_master_ip", redis_get_master_ip, master_args, FN_READONLY, NULL,
             "Return host and port of the master that the server follows; empty when it follows none.",
             "get_master_ip"),
    REDIS_FN("hdel", redis_plain, fields_args, 0, "HDEL key fields...",
             "Delete fields of a hash; return how many of them were there.",
             "hdel foo_hash bar_field1 bar_field2"),
    REDIS_FN("hexists", redis_truth, field_args, FN_READONLY, "HEXISTS key field",
             "True if the hash has the field.", "hexists foo_hash bar_field"),
    REDIS_FN("hget", redis_plain, field_args, FN_READONLY, "HGET key field",
             "Return the value of a field; None if there is none.", "hget foo_hash bar_field"),
    REDIS_FN("hgetall", redis_pairs, key_args, FN_READONLY, "HGETALL key",
             "Return the fields of a hash and their values.", "hgetall foo_hash"),
    REDIS_FN("hincrby", redis_plain, hincrby_args, 0, "HINCRBY key field increment",
             "Add a whole number to a field; return the sum.", "hincrby foo_hash bar_field 5"),
    REDIS_FN("hincrbyfloat", redis_fraction, hincrbyfloat_args, 0, "HINCRBYFLOAT key field increment",
             "Add a number to a field; return the sum.", "hincrbyfloat foo_hash bar_field 5.17"),
    REDIS_FN("hlen", redis_plain, key_args, FN_READONLY, "HLEN key", "Return the number of a hash's fields.",
             "hlen foo_hash"),
    REDIS_FN("hmget", redis_plain, fields_args, FN_READONLY, "HMGET key fields...",
             "Return the values of fields, None for one that is not there.",
             "hmget foo_hash bar_field1 bar_field2"),
    REDIS_FN("hmset", redis_hmset, hmset_args, 0, NULL, "Set fields of a hash.",
             "hmset foo_hash bar_field1=bar_value1 bar_field2=bar_value2"),
    REDIS_FN("hscan", redis_hscan, hscan_args, FN_READONLY, "HSCAN key cursor",
             "Return a part of a hash, and the cursor of the next one.",
             "hscan foo_hash match='field_prefix_*' count=1"),
    REDIS_FN("hset", redis_plain, hset_args, 0, "HSET key field value",
             "Set a field; return 1 if it is new, else 0.", "hset foo_hash bar_field bar_value"),
    REDIS_FN("hsetnx", redis_plain, hset_args, 0, "HSETNX key field value",
             "Set a field unless it is there; return 1 if it was set, else 0.",
             "hsetnx foo_hash bar_field bar_value"),
    REDIS_FN("hvals", redis_plain, key_args, FN_READONLY, "HVALS key", "Return the values of a hash.",
             "hvals foo_hash"),
    REDIS_FN("info", redis_info, access_args, FN_READONLY, NULL, "Return what the server tells of itself.",
             "info"),
    REDIS_FN("key_type", redis_plain, key_args, FN_READONLY, "TYPE key", "Return the type of a key's value.",
             "key_type foo"),
    REDIS_FN("keys", redis_plain, pattern_args, FN_READONLY, "KEYS pattern",
             "Return the keys of the database.", "keys 'test*'"),
    REDIS_FN("lastsave", redis_plain, access_args, FN_READONLY, "LASTSAVE",
             "Return when the data was last saved, in seconds since 1970.", "lastsave"),
    REDIS_FN("llen", redis_plain, key_args, FN_READONLY, "LLEN key", "Return the length of a list.",
             "llen foo_list"),
    REDIS_FN("lrange", redis_plain, range_args, FN_READONLY, "LRANGE key start stop",
             "Return a part of a list.", "lrange foo_list 0 10"),
    REDIS_FN("ping", redis_ping, access_args, FN_READONLY, NULL, "True if the server answers.", "ping"),
    REDIS_FN("save", redis_truth, access_args, 0, "SAVE", "Save the data to disk; return when that is done.",
             "save"),
    REDIS_FN("sentinel_get_master_ip", redis_sentinel_master, sentinel_args, FN_READONLY,
             "SENTINEL GET-MASTER-ADDR-BY-NAME master", "Return host and port of a master from a sentinel.",
             "sentinel_get_master_ip 'mymaster'"),
    REDIS_FN("set_key", redis_truth, set_args, 0, "SET key value", "Set the value of a key.",
             "set_key foo bar"),
    REDIS_FN("shutdown", redis_shutdown, access_args, 0, NULL, "Save the data to disk and end the server.",
             "shutdown"),
    REDIS_FN("slaveof", redis_slaveof, slaveof_args, 0, NULL, "Make the server follow a master, or be one.",
             "slaveof redis-n01.example.com 6379"),
    REDIS_FN("smembers", redis_plain, key_args, FN_READONLY, "SMEMBERS key", "Return the members of a set.",
             "smembers foo_set"),
    REDIS_FN("time", redis_time, access_args, FN_READONLY, "TIME",
             "Return the server's time, in seconds since 1970.", "time"),
    REDIS_FN("zcard", redis_plain, key_args, FN_READONLY, "ZCARD key",
             "Return the number of a sorted set's members.", "zcard foo_sorted"),
    REDIS_FN("zrange", redis_plain, range_args, FN_READONLY, "ZRANGE key start stop",
             "Return a part of a sorted set.", "zrange foo_sorted 0 10"),
};

PLUGIN(exec, redismod, .provides = "redis", .doc = "Keys and settings of a Redis server", FUNCS(funcs));
