/* svncmd.c - see svncmd.h: runs svn, and reads what `svn info` prints. */
#include "plugins/lib/git/svncmd.h"

#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"

enum { SVN_TIMEOUT_S = 2 * 60 * 60 }; /* a checkout of a large tree over a slow line */

json_t *
svn_run(call_ctx_t *ctx, const json_t *args, const char *command, json_t *words, fail_t *err)
{
    json_auto_t *rest = words, *line = json_pack("[s, s, s]", "svn", "--non-interactive", command);
    const char *user = value_str(args, "user", ""), *cwd = value_str(args, "cwd", "");
    const char *login = value_str(args, "username", "");
    AUTO_FREE char *password = value_pystr(value_get(args, "password"));
    bool secret = value_truthy(value_get(args, "password"));

    json_array_extend(line, rest);
    if (*login != '\0') {
        json_array_append_new(line, json_string("--username"));
        json_array_append_new(line, json_string(login));
    }
    if (secret)
        json_array_append_new(line, json_string("--password-from-stdin"));
    json_auto_t *ran = sub_call(ctx, err, "cmd.run_all", "{s:O, s:s?, s:s?, s:s?, s:b, s:i}", "cmd", line,
                                "cwd", *cwd != '\0' ? cwd : NULL, "runas", *user != '\0' ? user : NULL,
                                "stdin", secret ? password : NULL, "python_shell", 0, "timeout",
                                SVN_TIMEOUT_S);
    if (ran == NULL)
        return NULL;
    if (value_int(ran, "retcode", 1) == 0)
        return json_incref(value_get(ran, "stdout"));
    AUTO_FREE char *shown = value_joined(line, " ");
    (void) fail_kind(err, FAIL_COMMAND, -EIO, "%s\n\n%s", value_str(ran, "stderr", ""), shown);
    return NULL;
}

json_t *
svn_pairs(const char *text)
{
    json_t *pairs = json_array();
    AUTO_FREE char *copy = xstrdup(text);

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        char *colon = strchr(line, ':');
        size_t blanks = colon != NULL ? strspn(colon + 1, " \t") : 0;
        if (colon == NULL || colon == line || blanks == 0 || colon[1 + blanks] == '\0')
            continue;
        *colon = '\0';
        json_array_append_new(pairs, json_pack("[s, s]", line, colon + 1 + blanks));
    }
    return pairs;
}

char *
svn_value(const char *text, const char *key)
{
    json_auto_t *pairs = svn_pairs(text);
    json_t *pair;
    size_t i;

    json_array_foreach (pairs, i, pair) {
        if (str_eq(json_string_value(json_array_get(pair, 0)), key))
            return xstrdup(json_string_value(json_array_get(pair, 1)));
    }
    return NULL;
}
