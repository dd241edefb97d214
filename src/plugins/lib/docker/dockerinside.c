/* dockerinside.c - commands inside of containers, and logins: see dockerfuns.h. A command is made by POST
 * .../exec and run by a second request, whose answer is its output; the exit code is asked for afterwards. */
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/docker/dockerfuns.h"

#define INSIDE_PATH "PATH=/bin:/usr/bin:/sbin:/usr/sbin:/opt/bin:/usr/local/bin:/usr/local/sbin"

/* The words of the command: an empty environment but for PATH and what is kept. A shell inside reads those
 * that only a shell understands. NEW, or NULL with *err. */
static json_t *
command_words(const json_t *args, const char *command, fail_t *err)
{
    json_t *keep = value_get(args, "keep_env"), *words = json_array(), *stdin_text = value_get(args, "stdin"),
           *one;
    size_t i;

    if (!json_is_true(keep)) {
        json_array_append_new(words, json_string("env"));
        json_array_append_new(words, json_string("-i"));
        json_array_append_new(words, json_string(INSIDE_PATH));
        json_auto_t *names = value_truthy(keep) ? docker_stringlist(keep) : json_array();
        json_array_foreach (names, i, one) {
            const char *value = getenv(json_string_value(one));
            if (value != NULL)
                json_array_append_new(words, value_fmt("%s=%s", json_string_value(one), value));
        }
    }
    if (json_is_string(stdin_text) || strpbrk(command, "|&;<>()$`*?[#~\n") != NULL) {
        json_array_append_new(words, json_string("sh"));
        json_array_append_new(words, json_string("-c"));
        json_array_append_new(words, json_string(command));
        return words;
    }
    char **split = prog_split(command, err);
    for (i = 0; split != NULL && split[i] != NULL; i++)
        json_array_append_new(words, json_string(split[i]));
    strv_free(split);
    if (split != NULL)
        return words;
    json_decref(words);
    return NULL;
}

static json_t *
dockerinside_stripped(const buf_t *text)
{
    size_t n = text->len;

    while (n > 0 && (text->data[n - 1] == '\n' || text->data[n - 1] == '\r'))
        n--;
    return value_utf8(buf_str(text), n);
}

json_t *
docker_inside(call_ctx_t *ctx, const char *name, json_t *words, bool merge, fail_t *err)
{
    AUTO_FREE char *create = engine_path("/containers/%s/exec", name);
    buf_auto_t raw = BUF_INIT, out = BUF_INIT, errs = BUF_INIT;

    json_auto_t *made = engine_post(ctx, err, create, NULL,
                                    json_pack("{s:b, s:b, s:b, s:b, s:b, s:o}", "AttachStdin", 0,
                                              "AttachStdout", 1, "AttachStderr", 1, "Tty", 0, "Privileged", 0,
                                              "Cmd", words));
    if (made == NULL)
        return NULL;
    AUTO_FREE char *start = engine_path("/exec/%s/start", value_str(made, "Id", ""));
    AUTO_FREE char *look = engine_path("/exec/%s/json", value_str(made, "Id", ""));
    json_auto_t *body = json_pack("{s:b, s:b}", "Detach", 0, "Tty", 0);
    if (engine_bytes(ctx, &(engine_ask_t){ .method = "POST", .path = start, .body = body, .timeout = -1 },
                     &raw, err) < 0)
        return NULL;
    /* The output ends when the command does, so the code is there by now. */
    json_auto_t *ended = engine_get(ctx, err, look);
    if (ended == NULL)
        return NULL;
    docker_demux(&raw, &out, merge ? &out : &errs);
    return json_pack("{s:I, s:I, s:o, s:o}", "pid", value_int(ended, "Pid", 0), "retcode",
                     value_int(ended, "ExitCode", 0), "stdout", dockerinside_stripped(&out), "stderr",
                     dockerinside_stripped(&errs));
}

json_t *
docker_run_all(call_ctx_t *ctx, const json_t *args, const char *command, bool merge, fail_t *err)
{
    const char *driver = value_str(args, "exec_driver", NULL);
    json_t *set = engine_option(ctx, "docker.exec_driver");

    if (driver == NULL && json_is_string(set))
        driver = json_string_value(set);
    if (driver != NULL && strcmp(driver, "docker-exec") != 0) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "exec_driver '%s': commands run inside by the engine itself, which is 'docker-exec'",
                         driver);
        return NULL;
    }
    if (value_truthy(value_get(args, "stdin"))) {
        (void) fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "stdin: a command inside of a container gets none here; write the text to a file of the container");
        return NULL;
    }
    json_t *words = command_words(args, command, err);
    json_t *done = words != NULL ? docker_inside(ctx, value_str(args, "name", ""), words, merge, err) : NULL;
    /* The command's code becomes the job's, as for cmd.run. */
    if (done != NULL && !value_bool(args, "ignore_retcode", false) && value_int(done, "retcode", 0) != 0)
        ctx_set_retcode(ctx, (int) value_int(done, "retcode", 0));
    return done;
}

/* run, run_all, run_stdout ...: the row's member of what came of it; "" is all that was printed. */
int
docker_fn_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *what = ctx_row(ctx)->data.text;
    json_auto_t *done = docker_run_all(ctx, args, value_str(args, "cmd", ""), *what == '\0', err);

    if (done == NULL)
        return err->code;
    docker_tell_mine(ctx);
    *ret_value = json_incref(*what == '\0'              ? value_get(done, "stdout")
                             : strcmp(what, "all") == 0 ? done
                                                        : value_get(done, what));
    return 0;
}

/* ---- logins ------------------------------------------------------------------------------------ */

/* All that docker-registries and *-docker-registries of the configuration and the pillar name. NEW. */
static json_t *
registries(call_ctx_t *ctx, json_t *errors)
{
    json_t *const both[] = { ctx_pillar(ctx), ctx_opts(ctx) }, *v;
    json_t *out = json_object();
    const char *key;

    for (size_t i = 0; i < NELEMS(both); i++) {
        json_object_foreach (both[i], key, v) {
            if (strcmp(key, "docker-registries") != 0 && !str_ends(key, "-docker-registries"))
                continue;
            if (json_is_object(v))
                json_object_update(out, v);
            else if (strcmp(key, "docker-registries") == 0)
                json_array_append_new(errors,
                                      json_string("'docker-registries' Pillar value must be a dictionary"));
            else
                json_array_append_new(
                    errors, value_fmt("Docker registry '%s' was not specified as a dictionary", key));
        }
    }
    return out;
}

/* `docker login` or `docker logout` of one registry; the password goes by standard input. The daemon has no
 * login to ask for: the program `docker` keeps it in its configuration, where pulls find it. */
static int
one_login(call_ctx_t *ctx, const char *verb, const char *name, const json_t *conf, json_t *results,
          json_t *errors, fail_t *err)
{
    const char *const needed[] = { "username", "password" };
    prog_auto_t prog = PROG_INIT;
    enum { LOGIN_MS = 60 * 1000 };
    bool in = strcmp(verb, "login") == 0;

    for (size_t i = 0; in && i < NELEMS(needed); i++) {
        if (!json_is_object(conf) || value_get(conf, needed[i]) == NULL) {
            json_array_append_new(errors, json_is_object(conf)
                                              ? value_fmt("Missing '%s' for registry '%s'", needed[i], name)
                                              : value_fmt("Invalid configuration for registry '%s'", name));
            return 0;
        }
    }
    AUTO_FREE char *user = in ? value_pystr(value_get(conf, "username")) : NULL;
    AUTO_FREE char *password = in ? value_pystr(value_get(conf, "password")) : NULL;
    if (tool_begin(&prog, "docker", err) < 0)
        return err->code;
    prog_add(&prog, verb);
    if (in) {
        prog_adds(&prog, "--username", user, "--password-stdin", NULL);
        prog.in = password;
    }
    prog.timeout_ms = LOGIN_MS;
    if (strcasecmp(name, "hub") != 0 && prog_operand(&prog, "registry", name, err) < 0)
        return err->code;
    json_auto_t *done = tool_run(ctx, &prog, TOOL_QUIET, err);
    if (password != NULL)
        explicit_bzero(password, strlen(password));
    if (done == NULL)
        return err->code;
    bool ok = value_int(done, "retcode", 1) == 0;
    json_object_set_new(results, name, json_boolean(ok));
    const char *told = value_str(done, "stderr", "");
    told = *told != '\0' ? told : value_str(done, "stdout", "");
    if (!ok && *told != '\0')
        json_array_append_new(errors, json_string(told));
    return 0;
}

/* login and logout: the row's word. Without names all registries are meant. */
int
docker_fn_login(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *verb = ctx_row(ctx)->data.text, *key;
    json_auto_t *errors = json_array();
    json_auto_t *results = json_object();
    json_auto_t *all = registries(ctx, errors);
    json_auto_t *names = json_copy(value_get(args, "registries"));
    json_t *v;
    size_t i;

    json_object_foreach (all, key, v) {
        if (!value_truthy(value_get(args, "registries")))
            json_array_append_new(names, json_string(key));
    }
    json_array_foreach (names, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        if (value_get(all, name) == NULL)
            json_array_append_new(errors, value_fmt("No match found for registry '%s'", name));
        else if (one_login(ctx, verb, name, value_get(all, name), results, errors, err) < 0)
            return err->code;
    }
    *ret_value = json_pack("{s:i, s:O, s:O}", "retcode", json_array_size(errors) > 0, "Errors", errors,
                           "Results", results);
    return 0;
}
