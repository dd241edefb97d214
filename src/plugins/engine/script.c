/* script.c - engine `script`: runs a command again and again, and fires an event for each line of its output
 * that is a mapping with a `tag`; `data` of it goes along. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "common/host/prog.h"
#include "plugins/lib/engine/enginebus.h"
#include "salt/limits.h"
#include "salt/log.h"

/* A command that never ends its line must not fill the memory. */
enum {
    LINE_MAX_BYTES = 1024 * 1024,
    SEEN_MAX = 10000 /* tags that are remembered: a script that never ends may make new ones for ever */
};

/* The state of a run, for each of its lines. */
typedef struct script {
    call_ctx_t *ctx;
    const char *output; /* "json" or "yaml" */
    json_t *seen;       /* owned: {tag: data} of before, oldest first; NULL: each line is an event */
} script_t;

/* Fires the event of a line. Empty lines and those without a tag are no events; what can't be read is told in
 * the log. With onchange, a tag's data must differ from what it was before. */
static void
script_line(script_t *self, char *line)
{
    static const char what[] = "the script's line";
    fail_auto_t err = FAIL_INIT;
    char *text = str_trim(line);
    size_t len = strlen(text);
    json_auto_t *event = len == 0                       ? json_null()
                         : str_eq(self->output, "yaml") ? yaml_load(text, len, what, NULL, &err)
                                                        : value_parse(text, len, LIMIT_LOCAL_MSG, what, &err);
    const char *tag = value_str(event, "tag", NULL);
    json_auto_t *none = json_object();
    json_t *data = value_get(event, "data") != NULL ? value_get(event, "data") : none;

    if (event == NULL)
        log_error("engine script: %s", fail_text(&err));
    if (tag == NULL || (self->seen != NULL && json_equal(value_get(self->seen, tag), data)))
        return;
    if (self->seen != NULL) {
        json_object_set(self->seen, tag, data);
        if (json_object_size(self->seen) > SEEN_MAX)
            json_object_del(self->seen, json_object_iter_key(json_object_iter(self->seen)));
    }
    if (ctx_fire(self->ctx, tag, data, &err) < 0)
        log_error("engine script: %s", fail_text(&err));
}

/* Takes the lines of what was read, and keeps what is no whole line yet. One that is too long is left out, to
 * its end. */
static void
script_take(script_t *self, buf_t *in, bool *skips)
{
    char *end;

    while ((end = in->len > 0 ? memchr(in->data, '\n', in->len) : NULL) != NULL) {
        size_t len = (size_t) (end - (char *) in->data) + 1;
        *end = '\0';
        if (!*skips)
            script_line(self, (char *) in->data);
        *skips = false;
        buf_consume(in, len);
    }
    if (in->len <= LINE_MAX_BYTES)
        return;
    if (!*skips)
        log_error("engine script: a line of more than %d bytes is left out", LINE_MAX_BYTES);
    *skips = true;
    buf_clear(in);
}

/* Runs the command once, and reads its lines as they come. 0 or a negative errno with *err. */
static int
script_once(script_t *self, char *const *argv, fail_t *err)
{
    int ends[2], status = 0;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail_set(err, -errno, "pipe: %s", strerror(errno));
    /* The command ends with this process, and has the usual signals. Its errors are lines as well, as in
     * Salt. */
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        proc_fresh_signals(NULL);
        proc_end_with(parent);
        (void) dup2(ends[1], STDOUT_FILENO);
        (void) dup2(ends[1], STDERR_FILENO);
        (void) execvp(argv[0], argv);
        _exit(127);
    }
    (void) close(ends[1]);
    if (pid > 0) {
        /* Reads the output to its end. A last line without a newline counts, too. */
        buf_auto_t in = BUF_INIT;
        bool skips = false;
        ssize_t count;
        for (;;) {
            buf_reserve(&in, LIMIT_BEACON_READ);
            count = read(ends[0], in.data + in.len, LIMIT_BEACON_READ);
            if (count < 0 && errno == EINTR)
                continue;
            if (count <= 0)
                break;
            in.len += (size_t) count;
            script_take(self, &in, &skips);
        }
        if (in.len > 0 && !skips) {
            buf_putc(&in, '\n');
            script_take(self, &in, &skips);
        }
    }
    (void) close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    /* A shell's number for what can't be started; the child has no other way to tell. */
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail_set(err, -ENOENT, "the command %s can't be run", argv[0]);
    return pid > 0 ? 0 : fail_set(err, -EAGAIN, "fork: %s", strerror(errno));
}

/* A run that fails is no reason to end: the next one may do better. */
static int
script_start(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *output = value_str(args, "output", "json");
    script_t self = { .ctx = ctx, .output = output };
    char **argv = prog_split(value_str(args, "cmd", ""), err);

    if (argv == NULL || argv[0] == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "script: 'cmd' is no command");
    if (!str_eq(output, "json") && !str_eq(output, "yaml"))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Unknown serializer `%s` found for output option",
                         output);
    self.seen = value_bool(args, "onchange", false) ? json_object() : NULL;
    for (;;) {
        fail_auto_t why = FAIL_INIT;
        if (script_once(&self, argv, &why) < 0)
            log_error("engine script: %s", fail_text(&why));
        clock_pause(value_num(args, "interval", 1));
    }
}

static const arg_t args[] = { ARG("cmd", ARG_STR, ARG_REQUIRED,
                                  "The command, as words of a shell; no shell reads it"),
                              ARG("output", ARG_STR, "\"json\"", "Form of its lines: json or yaml"),
                              ARG("interval", ARG_FLOAT, "1", "Seconds between two runs"),
                              ARG("onchange", ARG_BOOL, "false",
                                  "Fire only what differs from the last of the same tag, of 10,000 tags"),
                              ARGS_END };

static const func_t funcs[] = {
    { "start", script_start, args, 0,
      "Run a command again and again; each line of its output that has a ``tag`` is an event, with its "
      "``data``." }
};

PLUGIN(engine, script, .doc = "Events from the output of a command", FUNCS(funcs));
