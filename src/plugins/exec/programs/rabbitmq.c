/* rabbitmq.c - execution module `rabbitmq`: users, virtual hosts, policies, plugins and clusters of a broker,
 * by rabbitmqctl and rabbitmq-plugins. A password goes to rabbitmqctl's standard input. Simple functions are
 * rows of words (rabbit_call_t) or tables of lines (rabbit_table_t); what rabbitmqctl prints differs between
 * releases in headings and columns, and the readers below take all of them. Anything on stderr is a failure,
 * as by Salt, also with exit code 0. */
#include <sys/random.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/python/pep440.h"

/* One command whose words are the row's. */
typedef struct rabbit_call {
    const char *words;  /* "delete_user $name": $ARGUMENT is its value */
    const char *answer; /* key of what it prints; NULL: the text alone; "": True */
} rabbit_call_t;

/* ---- the programs ------------------------------------------------------------------------------- */

/* Erlang complains about a locale that is not UTF-8. `in` may be NULL. NEW {retcode, stdout, stderr}, or NULL
 * with *err. cmd.run_all with reset_system_locale would set "C". With a password the log tells nothing of the
 * call. */
static json_t *
rabbit_run(call_ctx_t *ctx, const json_t *args, const json_t *line, const char *in, fail_t *err)
{
    AUTO_FREE char *path = fs_which(
        json_string_value(json_array_get(line, 0))); /* PATH may be another user's */
    json_auto_t *whole = json_copy((json_t *) line);
    const char *user = value_str(args, "runas", "");

    if (path != NULL)
        json_array_set_new(whole, 0, json_string(path));
    return sub_call(ctx, err, "cmd.run_all", "{s:O, s:s?, s:s?, s:b, s:s, s:b, s:b, s:{s:s}, s:i}", "cmd",
                    whole, "runas", *user != '\0' ? user : NULL, "stdin", in, "stdin_raw_newlines", 1,
                    "output_loglevel", in != NULL ? "quiet" : "debug", "python_shell", 0,
                    "reset_system_locale", 0, "env", "LC_ALL", "C.UTF-8", "timeout", LIMIT_TOOL_MS / 1000);
}

/* The broker's version by its package, without what the distribution adds; "" where that is not known. NEW,
 * or NULL with *err. Needed for old forms alone. */
static char *
package_version(call_ctx_t *ctx, fail_t *err)
{
    bool bsd = str_eq(value_str(ctx_grains(ctx), "os_family", ""), "FreeBSD");
    json_auto_t *names = json_pack("[s]", bsd ? "rabbitmq" : "rabbitmq-server"), *version = NULL;

    if (ctx_has(ctx, "pkg.version") && ctx_call(ctx, "pkg.version", names, NULL, &version, err) < 0)
        return NULL;
    const char *text = json_is_string(version) ? json_string_value(version) : "";
    return xasprintf("%.*s", (int) strcspn(text, "-"), text);
}

/* "Listing users ..." and the like around the answer. "Listing" may also begin a name, hence the tests of the
 * line's end and of tabs. */
static bool
is_answer(const char *line)
{
    if (str_starts(line, "Listing") && (str_ends(line, "...") || strchr(line, '\t') == NULL))
        return false;
    return strstr(line, "...done") == NULL && !str_starts(line, "WARNING:") && *line != '\0';
}

/* What a command printed: NEW text, or NULL with *err, for anything on stderr too. */
static char *
rabbit_text(call_ctx_t *ctx, const json_t *args, const json_t *line, const char *in, fail_t *err)
{
    json_auto_t *ran = rabbit_run(ctx, args, line, in, err);

    if (ran == NULL)
        return NULL;
    const char *said = value_str(ran, "stderr", "");
    if (value_int(ran, "retcode", 1) == 0 && *said == '\0')
        return xstrdup(value_str(ran, "stdout", ""));
    (void) fail_kind(err, FAIL_COMMAND, -EIO, "RabbitMQ command failed: %s",
                     *said != '\0' ? said : value_str(ran, "stdout", ""));
    return NULL;
}

/* The row's words with the call's values, which are no options. NEW, or NULL with *err. "plugins " at the
 * start means the other program. */
static json_t *
rabbit_line(call_ctx_t *ctx, const json_t *args, const char *words, fail_t *err)
{
    bool plugins = str_starts(words, "plugins ");
    AUTO_FREE char *program = plugins ? fs_which("rabbitmq-plugins") : xstrdup("rabbitmqctl");
    if (program == NULL) {
        /* Older packages have it beside the server only. */
        AUTO_FREE char *version = package_version(ctx, err);
        if (version != NULL)
            program = xasprintf("/usr/lib/rabbitmq/lib/rabbitmq_server-%s/sbin/rabbitmq-plugins", version);
    }
    json_auto_t *line = program != NULL ? json_pack("[s]", program) : NULL;
    char **split = str_split(plugins ? strchr(words, ' ') : words, " ", true);

    for (size_t i = 0; line != NULL && split[i] != NULL; i++) {
        json_t *value = split[i][0] == '$' ? value_get(args, split[i] + 1) : NULL;
        AUTO_FREE char *text = value != NULL ? value_pystr(value) : xstrdup(split[i]);
        if (value != NULL && prog_check_operand(split[i] + 1, text, err) < 0)
            break;
        json_array_append_new(line, json_string(text));
    }
    strv_free(split);
    return err->code == 0 ? STEAL(line) : NULL;
}

/* The answer is the text, {KEY: text}, or True, as the row says. */
static int
rabbit_do(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const rabbit_call_t *call = ctx_row(ctx)->data.ptr;
    json_auto_t *line = rabbit_line(ctx, args, call->words, err);
    AUTO_FREE char *text = line != NULL ? rabbit_text(ctx, args, line, NULL, err) : NULL;

    if (text == NULL)
        return err->code;
    if (call->answer == NULL)
        *ret_value = json_string(text);
    else
        *ret_value = *call->answer == '\0' ? json_true() : json_pack("{s:s}", call->answer, text);
    return 0;
}

/* Runs the words and adds each line of the answer by `take`. NEW of that type, or NULL with *err. Further
 * words of the call (columns) stand at the end. TAKES `into`. */
static json_t *
rabbit_lines(call_ctx_t *ctx, const json_t *args, const char *words, json_t *into,
             void (*take)(char *line, json_t *into), fail_t *err)
{
    json_auto_t *line = rabbit_line(ctx, args, words, err), *taken = into;
    json_t *more = value_get(args, "args");

    if (line != NULL && json_is_array(more))
        json_array_extend(line, more);
    AUTO_FREE char *text = line != NULL ? rabbit_text(ctx, args, line, NULL, err) : NULL;
    for (char *at = text, *one; at != NULL && (one = line_next(&at)) != NULL;) {
        if (is_answer(one))
            take(one, taken);
    }
    return text != NULL ? STEAL(taken) : NULL;
}

/* ---- lists -------------------------------------------------------------------------------------- */

/* "NAME<tab>[tag, tag]". The heading of newer versions has no brackets. Tags are parted by commas, or by
 * blanks in old releases. */
static void
take_user(char *line, json_t *into)
{
    char *tab = strchr(line, '\t');
    json_t *tags = json_array();

    if (tab != NULL && tab[1] == '[' && str_ends(tab, "]")) {
        *tab = '\0';
        tab[1 + strlen(tab + 1) - 1] = '\0';
        char **words = str_split(tab + 2, strchr(tab + 2, ',') != NULL ? "," : " ", false);
        for (size_t i = 0; words[i] != NULL; i++)
            json_array_append_new(tags, json_string(str_trim(words[i])));
        strv_free(words);
        json_object_set(into, line, tags);
    }
    json_decref(tags);
}

/* All words of a line are values: list_vhosts with further columns. */
static void
rabbit_words(char *line, json_t *into)
{
    char **words = str_split(line, " \t", true);

    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(into, json_string(words[i]));
    strv_free(words);
}

/* The heading of newer versions is "name". */
static void
take_vhost(char *line, json_t *into)
{
    if (json_array_size(into) > 0 || strcmp(line, "name") != 0)
        rabbit_words(line, into);
}

/* The name, then the columns that were asked for; a line of the name alone has "". */
static void
take_queue(char *line, json_t *into)
{
    char *tab = strchr(line, '\t');
    char **values = tab != NULL ? str_split(tab + 1, "\t", false) : NULL;
    json_t *list = json_array();

    for (size_t i = 0; values != NULL && values[i] != NULL; i++)
        json_array_append_new(list, json_string(values[i]));
    if (tab != NULL)
        *tab = '\0';
    json_object_set_new(into, line, tab != NULL ? json_incref(list) : json_string(""));
    json_decref(list);
    strv_free(values);
}

/* "COMPONENT<tab>NAME<tab>JSON". */
static void
take_parameter(char *line, json_t *into)
{
    char **parts = str_split(line, "\t", false);

    if (strv_len(parts) == 3 && strcmp(parts[0], "component") != 0)
        json_object_set_new(into, parts[1], json_string(parts[2]));
    strv_free(parts);
}

/* A table of lines; how its rows are taken. */
typedef struct rabbit_table {
    const char *words;
    void (*take)(char *line, json_t *into);
    bool list;
    const char *found; /* the argument that is looked for in it; NULL: the table is the answer */
} rabbit_table_t;

/* The table, or whether it has the argument's name: user_exists and vhost_exists are list_users and
 * list_vhosts. */
static int
rabbit_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const rabbit_table_t *table = ctx_row(ctx)->data.ptr;
    json_auto_t *all = rabbit_lines(ctx, args, table->words, table->list ? json_array() : json_object(),
                                    table->take, err);

    if (all == NULL)
        return err->code;
    const char *name = table->found != NULL ? value_str(args, table->found, "") : "";
    *ret_value = table->found == NULL ? json_incref(all)
                 : table->list        ? json_boolean(value_lists(all, name))
                                      : json_boolean(value_get(all, name) != NULL);
    return 0;
}

/* The row's words; `text` names the member that becomes the key. --formatter json is among the words, so that
 * a virtual host's name may hold anything. */
static int
rabbit_permissions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const rabbit_call_t *call = ctx_row(ctx)->data.ptr;
    json_auto_t *line = rabbit_line(ctx, args, call->words, err);
    AUTO_FREE char *text = line != NULL ? rabbit_text(ctx, args, line, NULL, err) : NULL;
    json_auto_t *rows = text != NULL ? value_parse(text, strlen(text), LIMIT_JOB_OUTPUT, "rabbitmqctl", err)
                                     : NULL;
    json_t *row;
    size_t i;

    if (rows == NULL)
        return err->code;
    *ret_value = json_object();
    json_array_foreach (rows, i, row) {
        AUTO_FREE char *key = xstrdup(value_str(row, call->answer, ""));
        json_object_del(row, call->answer);
        json_object_set(*ret_value, key, row);
    }
    return 0;
}

/* ---- passwords ---------------------------------------------------------------------------------- */

/* The command with a user, and the password on standard input; what it printed without its question. NEW, or
 * NULL with *err. */
static char *
rabbit_with_password(call_ctx_t *ctx, const json_t *args, const char *command, const char *password,
                     fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *line = json_pack("[s, s, s]", "rabbitmqctl", command, name);
    AUTO_FREE char *in = xasprintf("%s\n", password);

    if (prog_check_operand("name", name, err) < 0)
        return NULL;
    /* A second line would answer a further question of the program. */
    if (*password == '\0' || strpbrk(password, "\r\n") != NULL) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "password: it may not be empty, or hold a line break");
        return NULL;
    }
    AUTO_FREE char *text = rabbit_text(ctx, args, line, in, err);
    if (text == NULL || !str_starts(text, "Password:"))
        return STEAL(text);
    const char *rest = strchr(text, '\n');
    return xstrdup(rest != NULL ? rest + 1 : "");
}

/* A password that nobody knows. NEW. rabbitmqctl makes no user without one. */
static char *
any_password(void)
{
    unsigned char bytes[16];
    char *text = xcalloc(1, 2 * sizeof bytes + 1);

    salt_assert(getrandom(bytes, sizeof bytes, 0) == (ssize_t) sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

/* Without a password the user gets a random one, which is cleared at once: no login is possible by it then.
 * Where clearing fails the user is removed again. */
static int
rabbit_add_user(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *given = value_get(args, "password");
    AUTO_FREE char *password = json_is_null(given) ? any_password() : value_pystr(given);
    AUTO_FREE char *text = rabbit_with_password(ctx, args, "add_user", password, err);

    if (text == NULL)
        return err->code;
    if (json_is_null(given)) {
        json_auto_t *cleared = sub_call(ctx, err, "rabbitmq.clear_password", "{s:O, s:O}", "name",
                                        value_get(args, "name"), "runas", value_get(args, "runas"));
        if (cleared == NULL) {
            fail_auto_t more = FAIL_INIT;
            json_decref(sub_call(ctx, &more, "rabbitmq.delete_user", "{s:O, s:O}", "name",
                                 value_get(args, "name"), "runas", value_get(args, "runas")));
            return err->code;
        }
    }
    *ret_value = json_pack("{s:s}", "Added", text);
    return 0;
}

static int
rabbit_change_password(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *password = value_pystr(value_get(args, "password"));
    AUTO_FREE char *text = rabbit_with_password(ctx, args, "change_password", password, err);

    *ret_value = text != NULL ? json_pack("{s:s}", "Password Changed", text) : NULL;
    return text != NULL ? 0 : err->code;
}

/* False only for what the broker refuses; a program that is missing is an error. Other refusals (no such
 * user) are False too. */
static int
rabbit_check_password(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *password = value_pystr(value_get(args, "password"));
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *text = rabbit_with_password(ctx, args, "authenticate_user", password, &why);

    if (text == NULL && why.kind != FAIL_COMMAND)
        return fail_kind(err, why.kind, why.code, "%s", fail_text(&why));
    *ret_value = json_boolean(text != NULL);
    return 0;
}

/* ---- more than one word after another ------------------------------------------------------------ */

/* The tags given replace all others. */
static int
rabbit_set_user_tags(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *tags = value_get(args, "tags");
    json_auto_t *list = json_is_array(tags) ? json_incref(tags) : json_pack("[O]", tags);
    json_auto_t *line = rabbit_line(ctx, args, "set_user_tags $name", err);

    if (line == NULL || prog_check_operands("tags", list, err) < 0)
        return err->code;
    json_array_extend(line, list);
    AUTO_FREE char *text = rabbit_text(ctx, args, line, NULL, err);
    *ret_value = text != NULL ? json_pack("{s:s}", "Tag(s) set", text) : NULL;
    return text != NULL ? 0 : err->code;
}

/* The application is started again, however joining ends. A node can join only while its application is
 * stopped. joining's error wins over that of the start. */
static int
rabbit_join(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *node = xasprintf("%s@%s", value_str(args, "user", ""), value_str(args, "host", ""));
    json_auto_t *line = json_pack("[s, s]", "rabbitmqctl", "join_cluster");
    json_auto_t *stop = json_pack("[s, s]", "rabbitmqctl", "stop_app"),
                *start = json_pack("[s, s]", "rabbitmqctl", "start_app");

    if (value_truthy(value_get(args, "ram_node")))
        json_array_append_new(line, json_string("--ram"));
    json_array_append_new(line, json_string(node));
    /* Before anything is stopped. */
    if (prog_check_operand("user", node, err) < 0)
        return err->code;
    AUTO_FREE char *stopped = rabbit_text(ctx, args, stop, NULL, err);
    if (stopped == NULL)
        return err->code;
    AUTO_FREE char *text = rabbit_text(ctx, args, line, NULL, err);
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *started = rabbit_text(ctx, args, start, NULL, text != NULL ? err : &why);
    if (text == NULL || started == NULL)
        return err->code;
    *ret_value = json_pack("{s:s}", "Join", text);
    return 0;
}

/* In 3.7 the pattern and what the policy applies to have changed places. A line of five parts has no
 * apply-to. */
static json_t *
rabbit_policy(char **parts, bool modern)
{
    size_t n = strv_len(parts);

    if (n == 5)
        return json_pack("{s:s, s:s, s:s}", "pattern", parts[2], "definition", parts[3], "priority",
                         parts[4]);
    return json_pack("{s:s, s:s, s:s, s:s}", "pattern", parts[modern ? 2 : 3], "apply_to",
                     parts[modern ? 3 : 2], "definition", parts[4], "priority", parts[5]);
}

/* {vhost: {name: policy}}. NEW, or NULL with *err. The package tells the release; without a package it is
 * taken for a new one. */
static json_t *
policies_of(call_ctx_t *ctx, const json_t *args, const char *vhost, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s, s, s, s]", "rabbitmqctl", "list_policies", "-q", "-p", vhost);
    AUTO_FREE char *text = prog_check_operand("vhost", vhost, err) == 0
                               ? rabbit_text(ctx, args, line, NULL, err)
                               : NULL;
    AUTO_FREE char *bare = text != NULL ? package_version(ctx, err) : NULL;
    json_auto_t *all = json_object();

    if (bare == NULL)
        return NULL;
    for (char *at = text, *one; (one = line_next(&at)) != NULL;) {
        char **parts = str_split(str_trim(one), "\t", false);
        size_t n = is_answer(one) ? strv_len(parts) : 0;
        if ((n == 5 || n == 6) && strcmp(parts[n - 1], "priority") != 0) {
            if (value_get(all, parts[0]) == NULL)
                json_object_set_new(all, parts[0], json_object());
            json_object_set_new(value_get(all, parts[0]), parts[1],
                                rabbit_policy(parts, *bare == '\0' || pep440_cmp(bare, "3.7") >= 0));
        }
        strv_free(parts);
    }
    return STEAL(all);
}

static int
rabbit_list_policies(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = policies_of(ctx, args, value_str(args, "vhost", "/"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* In the one virtual host. */
static int
rabbit_policy_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *vhost = value_str(args, "vhost", "/");
    json_auto_t *all = policies_of(ctx, args, vhost, err);

    *ret_value = all != NULL
                     ? json_boolean(value_get(value_get(all, vhost), value_str(args, "name", "")) != NULL)
                     : NULL;
    return all != NULL ? 0 : err->code;
}

/* The definition is JSON, an object or its text. */
static int
rabbit_set_policy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const options[][2] = { { "priority", "--priority" }, { "apply_to", "--apply-to" } };
    json_t *definition = value_get(args, "definition");
    AUTO_FREE char *json = json_is_object(definition) ? json_dumps(definition, 0) : value_pystr(definition);
    json_auto_t *line = rabbit_line(ctx, args, "set_policy -p $vhost", err);
    json_auto_t *last = rabbit_line(ctx, args, "x $name $pattern", err);

    if (line == NULL || last == NULL)
        return err->code;
    if (!json_is_object(definition) && !json_is_string(definition))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "The 'definition' argument must be a dictionary or JSON string");
    for (size_t i = 0; i < NELEMS(options); i++) {
        AUTO_FREE char *value = value_pystr(value_get(args, options[i][0]));
        if (!value_truthy(value_get(args, options[i][0])))
            continue;
        json_array_append_new(line, json_string(options[i][1]));
        json_array_append_new(line, json_string(value));
    }
    /* "rabbitmqctl x" was only there to have the operands checked: the options stand before them. */
    json_array_remove(last, 0);
    json_array_remove(last, 0);
    json_array_extend(line, last);
    json_array_append_new(line, json_string(json));
    AUTO_FREE char *text = rabbit_text(ctx, args, line, NULL, err);
    *ret_value = text != NULL ? json_pack("{s:s}", "Set", text) : NULL;
    return text != NULL ? 0 : err->code;
}

/* Salt's arguments are RabbitMQ's keys with "_" for "-". Those that are empty are left out. */
static int
rabbit_set_upstream(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = rabbit_line(ctx, args, "set_parameter federation-upstream $name", err),
                *params = json_object();
    const char *key;
    json_t *value;

    if (line == NULL)
        return err->code;
    json_object_foreach (args, key, value) {
        AUTO_FREE char *name = str_replace(key, "_", "-");
        if (value_truthy(value) && strcmp(key, "name") != 0 && strcmp(key, "runas") != 0)
            json_object_set(params, name, value);
    }
    AUTO_FREE char *json = json_dumps(params, 0);
    json_array_append_new(line, json_string(json));
    AUTO_FREE char *text = rabbit_text(ctx, args, line, NULL, err);
    *ret_value = text != NULL ? json_true() : NULL;
    return text != NULL ? 0 : err->code;
}

static const char *
exec_rabbitmq_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("rabbitmqctl");

    return path != NULL ? NULL : "Module rabbitmq: module only works when RabbitMQ is installed";
}

/* ---- table -------------------------------------------------------------------------------------- */

#define R_NAME            ARG("name", ARG_STR, ARG_REQUIRED, "The name")
#define R_VHOST           ARG("vhost", ARG_STR, ARG_REQUIRED, "The virtual host")
#define R_RUNAS           ARG("runas", ARG_STR, "null", "User to run the program as")
#define R_PASSWORD        ARG("password", ARG_ANY, ARG_REQUIRED, "The password")
#define R_MORE            ARG("args", ARG_ANY, ARG_STAR, "Columns: messages consumers ...")
#define R_ANY(name, help) ARG(name, ARG_ANY, "null", help)

static const arg_t runas_args[] = { R_RUNAS, ARGS_END };
static const arg_t name_args[] = { R_NAME, R_RUNAS, ARGS_END };
static const arg_t vhost_args[] = { R_VHOST, R_RUNAS, ARGS_END };
static const arg_t add_args[] = { R_NAME, R_ANY("password", "The password; none: it can't log in by one"),
                                  R_RUNAS, ARGS_END };
static const arg_t password_args[] = { R_NAME, R_PASSWORD, R_RUNAS, ARGS_END };
static const arg_t tags_args[] = { R_NAME, ARG("tags", ARG_ANY, ARG_REQUIRED, "The tags: a text, or a list"),
                                   R_RUNAS, ARGS_END };
static const arg_t permissions_args[] = { R_VHOST,
                                          ARG("user", ARG_STR, ARG_REQUIRED, "The user"),
                                          ARG("conf", ARG_STR, "\".*\"",
                                              "What it may configure: a regular expression"),
                                          ARG("write", ARG_STR, "\".*\"", "What it may write"),
                                          ARG("read", ARG_STR, "\".*\"", "What it may read"),
                                          R_RUNAS,
                                          ARGS_END };
static const arg_t join_args[] = { ARG("host", ARG_STR, ARG_REQUIRED, "A host of the cluster"),
                                   ARG("user", ARG_STR, "\"rabbit\"", "Its node's user"),
                                   R_ANY("ram_node", "As a node that keeps nothing on disk"), R_RUNAS,
                                   ARGS_END };
static const arg_t queues_args[] = { R_RUNAS, R_MORE, ARGS_END };
static const arg_t queues_vhost_args[] = { R_VHOST, R_RUNAS, R_MORE, ARGS_END };
static const arg_t policies_args[] = { ARG("vhost", ARG_STR, "\"/\"", "The virtual host"), R_RUNAS,
                                       ARGS_END };
static const arg_t policy_args[] = { R_VHOST, R_NAME, R_RUNAS, ARGS_END };
static const arg_t set_policy_args[] = { R_VHOST,
                                         R_NAME,
                                         ARG("pattern", ARG_STR, ARG_REQUIRED, "Which queues or exchanges"),
                                         ARG("definition", ARG_ANY, ARG_REQUIRED, "A dictionary, or JSON"),
                                         R_ANY("priority", "Its priority"),
                                         R_RUNAS,
                                         R_ANY("apply_to", "queues, exchanges, all, ..."),
                                         ARGS_END };
static const arg_t upstream_args[] = { R_NAME,
                                       ARG("uri", ARG_STR, ARG_REQUIRED, "amqp://..."),
                                       R_ANY("prefetch_count", "Messages before acknowledgement"),
                                       R_ANY("reconnect_delay", "Seconds"),
                                       R_ANY("ack_mode", "on-confirm, on-publish, no-ack"),
                                       R_ANY("trust_user_id", "Keep the user's id"),
                                       R_ANY("exchange", "Exchange there"),
                                       R_ANY("max_hops", "Of messages"),
                                       R_ANY("expires", "Milliseconds"),
                                       R_ANY("message_ttl", "Milliseconds"),
                                       R_ANY("ha_policy", "Of the queue there"),
                                       R_ANY("queue", "Queue there"),
                                       R_RUNAS,
                                       ARGS_END };

#define EXAMPLE(call) CLI_EXAMPLE("salt '*' rabbitmq." call)
#define DO(name, args, words, answer, doc, example)                                                          \
    {                                                                                                        \
        name, rabbit_do, args, 0, doc EXAMPLE(example), .data.ptr = &(const rabbit_call_t)                   \
        {                                                                                                    \
            words, answer                                                                                    \
        }                                                                                                    \
    }
#define LIST(name, args, words, take, list, found, doc, example)                                             \
    {                                                                                                        \
        name, rabbit_list, args, FN_READONLY, doc EXAMPLE(example), .data.ptr = &(const rabbit_table_t)      \
        {                                                                                                    \
            words, take, list, found                                                                         \
        }                                                                                                    \
    }

static const func_t funcs[] = {
    { "add_user", rabbit_add_user, add_args, 0, "Add a user." EXAMPLE("add_user rabbit_user password") },
    DO("add_vhost", vhost_args, "add_vhost $vhost", "Added", "Add a virtual host.",
       "add_vhost '<vhost_name>'"),
    { "change_password", rabbit_change_password, password_args, 0,
      "Change a user's password." EXAMPLE("change_password rabbit_user password") },
    { "check_password", rabbit_check_password, password_args, FN_READONLY,
      "Return whether it is a user's password." EXAMPLE("check_password rabbit_user password") },
    DO("clear_password", name_args, "clear_password $name", "Password Cleared",
       "Take a user's password away.", "clear_password rabbit_user"),
    DO("cluster_status", runas_args, "cluster_status", NULL, "Return the cluster's state.", "cluster_status"),
    DO("delete_policy", policy_args, "clear_policy -p $vhost $name", "Deleted", "Remove a policy.",
       "delete_policy / HA"),
    DO("delete_upstream", name_args, "clear_parameter federation-upstream $name", "", "Remove an upstream.",
       "delete_upstream upstream_name"),
    DO("delete_user", name_args, "delete_user $name", "Deleted", "Remove a user.", "delete_user rabbit_user"),
    DO("delete_vhost", vhost_args, "delete_vhost $vhost", "Deleted", "Remove a virtual host.",
       "delete_vhost '<vhost_name>'"),
    DO("disable_plugin", name_args, "plugins disable $name", "Disabled", "Disable a plugin.",
       "disable_plugin foo"),
    DO("enable_plugin", name_args, "plugins enable $name", "Enabled", "Enable a plugin.",
       "enable_plugin foo"),
    DO("force_reset", runas_args, "force_reset", NULL, "Return a node to its first state, whatever it is in.",
       "force_reset"),
    { "join_cluster", rabbit_join, join_args, 0,
      "Join a cluster." EXAMPLE("join_cluster rabbit.example.com rabbit") },
    LIST("list_available_plugins", runas_args, "plugins list -m", rabbit_words, true, NULL,
         "Return all plugins.", "list_available_plugins"),
    LIST("list_enabled_plugins", runas_args, "plugins list -m -e", rabbit_words, true, NULL,
         "Return enabled plugins.", "list_enabled_plugins"),
    { "list_permissions", rabbit_permissions, vhost_args, FN_READONLY,
      "Return users' permissions in a virtual host." EXAMPLE("list_permissions /myvhost"),
      .data.ptr = &(const rabbit_call_t){ "list_permissions --formatter=json -p $vhost", "user" } },
    { "list_policies", rabbit_list_policies, policies_args, FN_READONLY,
      "Return policies." EXAMPLE("list_policies") },
    LIST("list_queues", queues_args, "list_queues -q", take_queue, false, NULL, "Return queues.",
         "list_queues messages consumers"),
    LIST("list_queues_vhost", queues_vhost_args, "list_queues -q -p $vhost", take_queue, false, NULL,
         "Return queues of a virtual host.", "list_queues_vhost /myvhost messages"),
    LIST("list_upstreams", runas_args, "list_parameters -q", take_parameter, false, NULL, "Return upstreams.",
         "list_upstreams"),
    { "list_user_permissions", rabbit_permissions, name_args, FN_READONLY,
      "Return a user's permissions." EXAMPLE("list_user_permissions user"),
      .data.ptr = &(const rabbit_call_t){ "list_user_permissions $name --formatter=json", "vhost" } },
    LIST("list_users", runas_args, "list_users -q", take_user, false, NULL, "Return users with their tags.",
         "list_users"),
    LIST("list_vhosts", runas_args, "list_vhosts -q", take_vhost, true, NULL, "Return virtual hosts.",
         "list_vhosts"),
    LIST("plugin_is_enabled", name_args, "plugins list -m -e", rabbit_words, true, "name",
         "Return whether a plugin is enabled.", "plugin_is_enabled rabbitmq_plugin_name"),
    { "policy_exists", rabbit_policy_exists, policy_args, FN_READONLY,
      "Return whether there is a policy." EXAMPLE("policy_exists / HA") },
    DO("reset", runas_args, "reset", NULL, "Return a node to its first state.", "reset"),
    DO("set_permissions", permissions_args, "set_permissions -p $vhost $user $conf $write $read",
       "Permissions Set", "Set a user's permissions.", "set_permissions myvhost myuser"),
    { "set_policy", rabbit_set_policy, set_policy_args, 0,
      "Set a policy." EXAMPLE("set_policy / HA '.*' '{\"ha-mode\":\"all\"}'") },
    { "set_upstream", rabbit_set_upstream, upstream_args, 0,
      "Set an upstream." EXAMPLE(
          "set_upstream upstream_name ack_mode=on-confirm max_hops=1 uri=amqp://hostname") },
    { "set_user_tags", rabbit_set_user_tags, tags_args, 0,
      "Set a user's tags." EXAMPLE("set_user_tags myadmin administrator") },
    DO("start_app", runas_args, "start_app", NULL, "Start the broker.", "start_app"),
    DO("status", runas_args, "status", NULL, "Return the broker's state.", "status"),
    DO("stop_app", runas_args, "stop_app", NULL, "Stop the broker.", "stop_app"),
    LIST("upstream_exists", name_args, "list_parameters -q", take_parameter, false, "name",
         "Return whether there is an upstream.", "upstream_exists rabbit_upstream"),
    LIST("user_exists", name_args, "list_users -q", take_user, false, "name",
         "Return whether there is a user.", "user_exists rabbit_user"),
    LIST("vhost_exists", name_args, "list_vhosts -q", take_vhost, true, "name",
         "Return whether there is a virtual host.", "vhost_exists rabbit_host"),
};

PLUGIN(exec, rabbitmq, .doc = "RabbitMQ brokers", FUNCS(funcs), .unavailable = exec_rabbitmq_unavailable);
