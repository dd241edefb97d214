/* nginx.c - execution module `nginx`: its version, its configuration, its signals, its page of status. The
 * program prints all but nothing on stderr, so that its answers are read there or with both streams joined.
 * The page of status is that of ngx_http_stub_status_module. */
#include <limits.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* Result of `nginx ARGUMENT`: NEW {retcode, stdout, stderr}, or NULL with *err. Both words may be NULL. */
static json_t *
nginx_ran(call_ctx_t *ctx, const char *option, const char *word, unsigned flags, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "nginx", err);

    if (option != NULL)
        prog_add(&prog, option);
    if (word != NULL)
        prog_add(&prog, word);
    prog.timeout_ms = LIMIT_TOOL_MS;
    return rc == 0 ? tool_run(ctx, &prog, flags, err) : NULL;
}

/* "nginx version: nginx/1.22.1" */
static int
nginx_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = nginx_ran(ctx, "-v", NULL, TOOL_MERGE, err);

    if (ran == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    text[strcspn(text, "\n")] = '\0';
    const char *slash = strrchr(text, '/');
    *ret_value = json_string(slash != NULL ? slash + 1 : text);
    return 0;
}

/* The words of "configure arguments: ..." after these two; from a quote in a word to the line's last one is
 * one word. --with-cc-opt='-g -O2' is such a word; Salt's own parsing keeps all behind the first quote
 * together. */
static json_t *
build_arguments(const char *line)
{
    const char *last = strrchr(line, '\'');
    json_t *words = json_array();

    for (const char *at = line; *at != '\0';) {
        at += strspn(at, " \t");
        size_t len = strcspn(at, " \t");
        const char *quote = memchr(at, '\'', len);
        if (quote != NULL && quote < last)
            len = (size_t) (last - at) + 1;
        if (len > 0)
            json_array_append_new(words, value_utf8(at, len));
        at += len;
    }
    (void) json_array_remove(words, 0);
    (void) json_array_remove(words, 0);
    return words;
}

/* {"info": [lines], "build arguments": [words]}. */
static int
nginx_build_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = nginx_ran(ctx, "-V", NULL, TOOL_MERGE, err);

    if (ran == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    json_t *info = json_array();
    *ret_value = json_pack("{s:o}", "info", info);
    for (char *at = text, *line; *text != '\0' && (line = line_next(&at)) != NULL;) {
        if (str_starts(line, "configure argument"))
            json_object_set_new(*ret_value, "build arguments", build_arguments(line));
        else
            json_array_append_new(info, value_utf8(line, strlen(line)));
    }
    return 0;
}

/* nginx tells its findings on stderr in both cases. */
static int
nginx_configtest(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = nginx_ran(ctx, "-t", NULL, 0, err);

    if (ran == NULL)
        return err->code;
    bool good = value_int(ran, "retcode", 1) == 0;
    *ret_value = json_pack("{s:s, s:s, s:b}", "comment", good ? "Syntax OK" : "Syntax Error",
                           good ? "stdout" : "stderr", value_str(ran, "stderr", ""), "result", good);
    return 0;
}

/* "start" is the program without an option, the others are -s. None for a word that is no signal, as by
 * Salt. */
static int
nginx_signal(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const signals[] = { "start", "reopen", "stop", "quit", "reload" };
    const char *name = value_str(args, "signal", "");
    bool known = false, start = strcmp(name, "start") == 0;

    for (size_t i = 0; i < NELEMS(signals); i++)
        known = known || strcmp(name, signals[i]) == 0;
    if (!known) {
        *ret_value = json_null();
        return 0;
    }
    json_auto_t *ran = nginx_ran(ctx, start ? NULL : "-s", start ? NULL : name, 0, err);
    if (ran == NULL)
        return err->code;
    AUTO_FREE char *said = xstrdup(value_str(ran, "stderr", "")),
                   *more = xstrdup(value_str(ran, "stdout", "")), *path = fs_which("nginx");
    *ret_value = *said != '\0' ? json_string(str_trim(said))
                 : *more != '\0'
                     ? json_string(str_trim(more))
                     : value_fmt("Command: \"%s%s%s\" completed successfully!", path != NULL ? path : "nginx",
                                 start ? "" : " -s ", start ? "" : name);
    return 0;
}

/* The numbers of the page that the module stub_status serves. None for another page. Four lines: "Active
 * connections: 1", a heading, three counters, and "Reading: 0 Writing: 1 Waiting: 0". */
static int
nginx_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const struct {
        const char *name;
        size_t line, word;
    } fields[] = { { "active connections", 0, 2 },
                   { "accepted", 2, 0 },
                   { "handled", 2, 1 },
                   { "requests", 2, 2 },
                   { "reading", 3, 1 },
                   { "writing", 3, 3 },
                   { "waiting", 3, 5 } };
    json_auto_t *answer = sub_call(ctx, err, "http.query", "{s:s}", "url", value_str(args, "url", ""));
    const char *body = value_str(answer, "body", NULL);

    if (answer == NULL)
        return err->code;
    if (body == NULL)
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s: %s", value_str(args, "url", ""),
                         value_str(answer, "error", "no page came"));
    char **lines = str_split(body, "\n", true);
    json_auto_t *found = strv_len(lines) == 4 ? json_object() : NULL;
    for (size_t i = 0; found != NULL && i < NELEMS(fields); i++) {
        char **words = str_split(lines[fields[i].line], " \t\r", true);
        long long number;
        if (fields[i].word < strv_len(words) && str_to_int(words[fields[i].word], 0, LLONG_MAX, &number))
            json_object_set_new(found, fields[i].name, json_integer(number));
        strv_free(words);
    }
    strv_free(lines);
    *ret_value = json_object_size(found) == NELEMS(fields) ? STEAL(found) : json_null();
    return 0;
}

static const char *
exec_nginx_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("nginx");

    return path != NULL ? NULL : "The nginx execution module cannot be loaded: nginx is not installed.";
}

static const arg_t signal_args[] = { ARG("signal", ARG_STR, "null", "start, reopen, stop, quit or reload"),
                                     ARGS_END };
static const arg_t status_args[] = {
    ARG("url", ARG_STR, "\"http://127.0.0.1/status\"", "Where stub_status serves its page"), ARGS_END
};

static const func_t funcs[] = {
    { "build_info", nginx_build_info, NULL, FN_READONLY,
      "Return how nginx was built." CLI_EXAMPLE("salt '*' nginx.build_info") },
    { "configtest", nginx_configtest, NULL, FN_READONLY,
      "Test the configuration." CLI_EXAMPLE("salt '*' nginx.configtest") },
    { "signal", nginx_signal, signal_args, 0,
      "Start, stop or reload nginx." CLI_EXAMPLE("salt '*' nginx.signal reload") },
    { "status", nginx_status, status_args, FN_READONLY,
      "Return the numbers of the page of status." CLI_EXAMPLE("salt '*' nginx.status") },
    { "version", nginx_version, NULL, FN_READONLY,
      "Return the version." CLI_EXAMPLE("salt '*' nginx.version") },
};

PLUGIN(exec, nginx, .doc = "The web server nginx", .unavailable = exec_nginx_unavailable, FUNCS(funcs));
