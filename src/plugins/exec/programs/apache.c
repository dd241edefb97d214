/* apache.c - execution module `apache`: the web server, by apachectl, which Debian and SUSE call apache2ctl.
 * Answers are made of what the program prints for its options -v, -V, -M, -l, -L and -S, which is meant for
 * people and stable for long. Configurations are written by plugins/lib/apache. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/apache/apachetext.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/partfile.h"
#include "salt/plugin.h"

/* Salt's choice by the system's family. */
static const char *
control(call_ctx_t *ctx)
{
    const char *family = value_str(ctx_grains(ctx), "os_family", "");

    return strcmp(family, "Debian") == 0 || strcmp(family, "Suse") == 0 ? "apache2ctl" : "apachectl";
}

/* What the program prints with this option. NEW, or NULL with *err. */
static char *
apache_says(call_ctx_t *ctx, const char *option, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, control(ctx), err) < 0)
        return NULL;
    prog_add(&prog, option);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *ran = tool_run(ctx, &prog, TOOL_MERGE, err);
    return ran != NULL ? xstrdup(value_str(ran, "stdout", "")) : NULL;
}

/* ---- the server -------------------------------------------------------------------------------- */

/* "Server version: Apache/2.4.57 (Debian)": all behind the first colon. */
static int
apache_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = apache_says(ctx, "-v", err);
    char *value = text != NULL ? strstr(text, ": ") : NULL;

    if (text == NULL)
        return err->code;
    if (value == NULL || value > text + strcspn(text, "\n"))
        return fail_kind(err, FAIL_COMMAND, -EPROTO, "%s -v names no version", control(ctx));
    value += strlen(": ");
    value[strcspn(value, "\n")] = '\0';
    *ret_value = json_string(value);
    return 0;
}

/* Lines with a colon are members, and "-D NAME" lines what it is compiled with. Of a line with two values
 * (Server loaded: APR 1.7.2, ...) the first colon counts. */
static int
apache_fullversion(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = apache_says(ctx, "-V", err);

    if (text == NULL)
        return err->code;
    json_t *with = json_array(), *all = *ret_value = json_pack("{s:o}", "compiled_with", with);
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *value = strstr(line, ": "), *define = strstr(line, " -D");
        if (value != NULL) {
            *value = '\0';
            value += strlen(": ");
            char *title = str_trim(line), *end = strstr(value, ": ");
            if (end != NULL)
                *end = '\0';
            /* "Server's Module Magic Number: 1" is server's_module_magic_number. */
            for (char *p = title; *p != '\0'; p++)
                *p = *p == ' ' ? '_' : *p >= 'A' && *p <= 'Z' ? (char) (*p - 'A' + 'a') : *p;
            json_object_set_new(all, title, json_string(str_trim(value)));
        } else if (define != NULL) {
            json_array_append_new(with, json_string(str_trim(define + strlen(" -D"))));
        }
    }
    return 0;
}

/* " core_module (static)": other lines are headings. */
static int
apache_modules(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = apache_says(ctx, "-M", err);

    if (text == NULL)
        return err->code;
    json_t *fixed = json_array(), *shared = json_array();
    *ret_value = json_pack("{s:o, s:o}", "static", fixed, "shared", shared);
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        json_t *into = strstr(line, "(static)") != NULL   ? fixed
                       : strstr(line, "(shared)") != NULL ? shared
                                                          : NULL;
        const char *name = line + strspn(line, " \t");
        if (into != NULL)
            json_array_append_new(into, json_stringn(name, strcspn(name, " \t")));
    }
    return 0;
}

/* The sources that are compiled in: core.c, http_core.c. */
static int
apache_servermods(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = apache_says(ctx, "-l", err);

    if (text == NULL)
        return err->code;
    *ret_value = json_array();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (strstr(line, ".c") != NULL)
            json_array_append_new(*ret_value, json_string(str_trim(line)));
    }
    return 0;
}

/* A directive's lines behind its own begin with a tab. They are joined to it for the reading and parted again
 * in the value. */
static int
apache_directives(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *printed_text = apache_says(ctx, "-L", err);

    if (printed_text == NULL)
        return err->code;
    /* "<Directory (core.c)" is followed by lines of help and of where it is allowed. */
    AUTO_FREE char *text = str_replace(printed_text, "\n\t", "\t");
    *ret_value = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        AUTO_FREE char *rest = str_replace(line + strcspn(line, "\t"), "\t", "\n");
        if (*line == '\0')
            continue;
        line[strcspn(line, "\t")] = '\0';
        json_object_set_new(*ret_value, line, json_string(*rest == '\n' ? rest + 1 : rest));
    }
    return 0;
}

/* The word without parentheses. NEW string. */
static json_t *
bare_word(const char *word)
{
    AUTO_FREE char *open = str_replace(word, "(", ""), *bare = str_replace(open, ")", "");

    return json_string(bare);
}

/* Adds a host to what listens at an address: "default server NAME (FILE:1)", or "port 80 namevhost NAME
 * (FILE:1)". Aliases and wild cards have other forms and are left out, as by Salt. */
static void
add_vhost(char **words, size_t n, json_t *address)
{
    if (n > 3 && strcmp(words[0], "default") == 0)
        json_object_set_new(address, "default",
                            json_pack("{s:s, s:o}", "vhost", words[2], "conf", bare_word(words[3])));
    else if (n > 4 && strcmp(words[0], "port") == 0)
        json_object_set_new(
            address, words[3],
            json_pack("{s:s, s:o, s:s}", "vhost", words[3], "conf", bare_word(words[4]), "port", words[1]));
}

/* Only addresses with several hosts ("is a NameVirtualHost") are told. */
static int
apache_vhosts(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = apache_says(ctx, "-S", err);
    json_t *address = NULL;

    if (text == NULL)
        return err->code;
    *ret_value = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        bool starts = strstr(line, "is a NameVirtualHost") != NULL;
        char **words = str_split(line, " \t", true);
        if (starts && words[0] != NULL) {
            address = json_object();
            json_object_set_new(*ret_value, words[0], address);
        } else if (address != NULL) {
            add_vhost(words, strv_len(words), address);
        }
        strv_free(words);
    }
    return 0;
}

/* "start" and its like are options of the server, "configtest" and its like words of apachectl. None for
 * others. stderr wins over stdout; a silent success gets a sentence. */
static int
apache_signal(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const known[] = { "configtest", "status",  "fullstatus", "start",
                                         "stop",       "restart", "graceful",   "graceful-stop" };
    enum { OPTIONS_FROM = 3 };
    const char *wanted = value_str(args, "signal", "");
    prog_auto_t prog = PROG_INIT;
    size_t i = 0;

    *ret_value = json_null();
    while (i < NELEMS(known) && strcmp(known[i], wanted) != 0)
        i++;
    if (i == NELEMS(known))
        return 0;
    if (tool_begin(&prog, control(ctx), err) < 0)
        return err->code;
    if (i >= OPTIONS_FROM)
        prog_add(&prog, "-k");
    prog_add(&prog, wanted);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *ran = tool_run(ctx, &prog, 0, err);
    if (ran == NULL)
        return err->code;
    AUTO_FREE char *errors = xstrdup(value_str(ran, "stderr", "")),
                   *output = xstrdup(value_str(ran, "stdout", ""));
    if (*errors != '\0' || *output != '\0')
        *ret_value = json_string(str_trim(*errors != '\0' ? errors : output));
    else
        *ret_value = value_fmt("Command: \"%s%s %s\" completed successfully!", control(ctx),
                               i >= OPTIONS_FROM ? " -k" : "", wanted);
    return 0;
}

/* ---- status ---------------------------------------------------------------------------------- */

#define STATUS_KEYS "_SRWKDCLGI."

/* Counts a letter per worker. */
static void
count_workers(const char *letters, json_t *board)
{
    for (; *letters != '\0'; letters++) {
        char key[] = { *letters, '\0' };
        if (strchr(STATUS_KEYS, *letters) != NULL)
            json_object_set_new(board, key, json_integer(value_int(board, key, 0) + 1));
    }
}

/* The text of the server's status handler as numbers. NEW. "Key: value" for each line of ?auto. Letters that
 * mod_status does not have are not counted. */
static json_t *
status_of(char *text)
{
    json_t *board = json_object(), *all = json_pack("{s:o}", "Scoreboard", board);
    long long number;

    /* Letters that no worker has are 0, so that the keys are always the same. */
    for (const char *p = STATUS_KEYS; *p != '\0'; p++) {
        char key[] = { *p, '\0' };
        json_object_set_new(board, key, json_integer(0));
    }
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *value = strchr(line, ':'), *end = NULL;
        if (value == NULL)
            continue;
        *value++ = '\0';
        value = str_trim(value);
        if (strcmp(str_trim(line), "Scoreboard") == 0)
            count_workers(value, board);
        else if (str_to_int(value, 0, INT64_MAX, &number))
            json_object_set_new(all, str_trim(line), json_integer(number));
        else if (strtod(value, &end), *value != '\0' && *end == '\0')
            json_object_set_new(all, str_trim(line), json_real(strtod(value, NULL)));
        else
            json_object_set_new(all, str_trim(line), json_string(value));
    }
    return all;
}

/* A setting of apache.server-status: PROFILE. NEW; `otherwise` is TAKEN. */
static json_t *
profile_setting(call_ctx_t *ctx, const json_t *args, const char *key, json_t *otherwise, fail_t *err)
{
    AUTO_FREE char *name = xasprintf("apache.server-status:%s:%s", value_str(args, "profile", "default"),
                                     key);

    return sub_call(ctx, err, "config.get", "{s:s, s:o}", "key", name, "default", otherwise);
}

/* "error" for whatever goes wrong, as by Salt: no server, no such page, a wrong login. */
static int
apache_server_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *url = profile_setting(ctx, args, "url", json_string("http://localhost/server-status"), err);
    json_auto_t *user = profile_setting(ctx, args, "user", json_string(""), err);
    json_auto_t *password = profile_setting(ctx, args, "pass", json_string(""), err);
    json_auto_t *timeout = profile_setting(ctx, args, "timeout", json_integer(5), err);

    if (url == NULL || user == NULL || password == NULL || timeout == NULL)
        return err->code;
    /* A login goes by http.query's own arguments: in the address it would be logged. */
    json_auto_t *kwargs = json_pack("{s:o, s:b, s:b, s:O}", "url",
                                    value_fmt("%s?auto", json_string_value(url)), "text", 1, "status", 1,
                                    "timeout", timeout);
    if (value_truthy(user) && value_truthy(password)) {
        json_object_set(kwargs, "username", user);
        json_object_set(kwargs, "password", password);
    }
    json_auto_t *answer = NULL;
    (void) ctx_call(ctx, "http.query", NULL, kwargs, &answer, &why);
    if (value_int(answer, "status", 0) != 200 || value_get(answer, "text") == NULL) {
        *ret_value = json_string("error");
        return 0;
    }
    AUTO_FREE char *text = xstrdup(value_str(answer, "text", ""));
    *ret_value = status_of(text);
    return 0;
}

/* ---- configuration, users ----------------------------------------------------------------------- */

/* Each entry is one directive. The head line is in the file only. */
static int
apache_config(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t text = BUF_INIT, file = BUF_INIT;
    json_t *entry;
    size_t i;

    json_array_foreach (value_get(args, "config"), i, entry) {
        void *first = json_object_iter(entry);
        if (first == NULL)
            return fail_set(err, -EINVAL, "config: an entry is {DIRECTIVE: arguments}");
        buf_puts(&text, i > 0 ? "\n" : "");
        if (apachetext_add(&text, json_object_iter_key(first), json_object_iter_value(first), 0, err) < 0)
            return err->code;
    }
    buf_printf(&file, "# This file is managed by Salt.\n%s", buf_str(&text));
    if (value_truthy(value_get(args, "edit")) &&
        partfile_put(value_str(args, "name", ""), file.data, file.len, 0644, err) < 0)
        return err->code;
    *ret_value = value_utf8(buf_str(&text), text.len);
    return 0;
}

/* The row's text is the function of webutil that does it. */
static int
apache_user(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ctx_call(ctx, ctx_row(ctx)->data.ptr, NULL, args, ret_value, err);
}

static const char *
apache_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *program = fs_which(control(ctx));

    return program != NULL ? NULL : "The apache execution module cannot be loaded: apache is not installed.";
}

/* ---- table ------------------------------------------------------------------------------------ */

#define PWFILE_ROW ARG("pwfile", ARG_STR, ARG_REQUIRED, "The file of htpasswd")
#define USER_ROW   ARG("user", ARG_STR, ARG_REQUIRED, "The user's name")

static const arg_t signal_args[] = {
    ARG("signal", ARG_STR, "null",
        "start, stop, restart, graceful, graceful-stop, configtest, status, fullstatus"),
    ARGS_END
};
static const arg_t status_args[] = {
    ARG("profile", ARG_STR, "\"default\"", "Key below apache.server-status in the configuration"), ARGS_END
};
static const arg_t config_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The file"),
    ARG("config", ARG_LIST, ARG_REQUIRED,
        "Directives and sections: [{Listen: '80'}, {VirtualHost: {this: '*:80'}}]"),
    ARG("edit", ARG_ANY, "true", "Write the file; False: return the text only"), ARGS_END
};
static const arg_t useradd_args[] = {
    PWFILE_ROW, USER_ROW, ARG("password", ARG_STR, ARG_REQUIRED, "The password"),
    ARG("opts", ARG_STR, "\"\"", "Letters of htpasswd's options: n m d p s B"), ARGS_END
};
static const arg_t userdel_args[] = { PWFILE_ROW, USER_ROW, ARGS_END };

static const func_t funcs[] = {
    { "config", apache_config, config_args, 0,
      "Write a file of Apache's configuration, and return its text." CLI_EXAMPLE(
          "salt '*' apache.config /etc/apache2/ports.conf config=\"[{'Listen': '22'}]\"") },
    { "directives", apache_directives, NULL, FN_READONLY,
      "Return the directives with their arguments." CLI_EXAMPLE("salt '*' apache.directives") },
    { "fullversion", apache_fullversion, NULL, FN_READONLY,
      "Return how the server was built." CLI_EXAMPLE("salt '*' apache.fullversion") },
    { "modules", apache_modules, NULL, FN_READONLY,
      "Return the static and the shared modules." CLI_EXAMPLE("salt '*' apache.modules") },
    { "server_status", apache_server_status, status_args, FN_READONLY,
      "Return the numbers of the handler server-status, or \"error\"." CLI_EXAMPLE(
          "salt '*' apache.server_status") },
    { "servermods", apache_servermods, NULL, FN_READONLY,
      "Return the modules that are part of the server." CLI_EXAMPLE("salt '*' apache.servermods") },
    { "signal", apache_signal, signal_args, 0,
      "Start, stop or restart the server, or test its configuration." CLI_EXAMPLE(
          "salt '*' apache.signal restart") },
    { "useradd", apache_user, useradd_args, 0,
      "Set a user's password in a file of htpasswd." CLI_EXAMPLE(
          "salt '*' apache.useradd /etc/apache2/htpasswd larry badpassword"),
      .data.ptr = "webutil.useradd" },
    { "userdel", apache_user, userdel_args, 0,
      "Remove a user from a file of htpasswd." CLI_EXAMPLE(
          "salt '*' apache.userdel /etc/apache2/htpasswd larry"),
      .data.ptr = "webutil.userdel" },
    { "version", apache_version, NULL, FN_READONLY,
      "Return the server's version." CLI_EXAMPLE("salt '*' apache.version") },
    { "vhosts", apache_vhosts, NULL, FN_READONLY,
      "Return the virtual hosts by address." CLI_EXAMPLE("salt '*' apache.vhosts") },
};

PLUGIN(exec, apache, .doc = "The web server Apache", FUNCS(funcs), .unavailable = apache_unavailable);
