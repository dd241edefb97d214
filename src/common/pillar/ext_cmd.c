/* ext_cmd.c - external pillars `cmd_yaml`, `cmd_yamlex` and `cmd_json`: the parsed output of a command.
 *
 * The command runs in a shell with the time that is left of pillar_timeout and at most LIMIT_EXT_PILLAR bytes
 * of output. A non-zero exit code is only logged, as in Salt; the output still counts. */
#include "common/pillar/pillar_int.h"

#include "common/base/clock.h"
#include "common/host/proc.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/py/py_json.h"
#include "common/py/py_yaml.h"
#include "salt/log.h"

/* Inserts the minion's id for %s. The minion's owner chose the id, and quoting it would help only where the
 * command does not quote %s itself; so an id is inserted only when conf_id_valid accepts it, which excludes
 * shell characters and a leading '-'. Operators may ask for pillars of ids that do not pass. NEW, or NULL
 * with *err. */
static char *
ext_cmd_command(const compile_t *self, const json_t *args, fail_t *err)
{
    const json_t *text = json_is_array(args) ? json_array_get(args, 0) : args;

    if (json_is_object(args))
        text = value_get(args, "command");
    if (!json_is_string(text)) {
        (void) fail_set(err, -EINVAL, "it needs a command, as text");
        return NULL;
    }
    const char *command = json_string_value(text), *id = self->env->id;
    if (strstr(command, "%s") != NULL && !conf_id_valid(id, err)) {
        fail_prefix(err, "it does not go into a command: ");
        return NULL;
    }
    return str_replace(command, "%s", id);
}

/* Runs the command and appends its output. -ETIMEDOUT and -EFBIG for the limits; the child is then ended. */
static int
ext_cmd_output(compile_t *self, const char *command, buf_t *out, fail_t *err)
{
    char shell[] = "/bin/sh", c[] = "-c";
    char *words[] = { shell, c, (char *) command, NULL }; /* the C library's type; nothing writes to it */
    int64_t left = self->deadline_ms - clock_mono_ms();
    proc_spec_t spec = PROC_SPEC_INIT;
    proc_result_t res = { 0 };

    spec.argv = words;
    spec.timeout_ms = left > 1 ? (int) left : 1;
    spec.out_limit = LIMIT_EXT_PILLAR;
    int rc = proc_run(&spec, &res, err);
    if (rc == 0 && res.timed_out)
        rc = fail_set(err, -ETIMEDOUT, "'%s' took longer than pillar_timeout and was ended", command);
    else if (rc == 0 && res.dropped > 0)
        rc = fail_set(err, -EFBIG, "'%s' printed more than %d bytes", command, LIMIT_EXT_PILLAR);
    if (rc == 0 && res.status != 0)
        log_warning("ext_pillar: '%s' ended with exit code %d: %s", command, res.status, buf_str(&res.errs));
    if (rc == 0)
        buf_add(out, res.out.data, res.out.len);
    proc_result_free(&res);
    return rc;
}

typedef py_t *parse_fn(compile_t *self, const buf_t *text, fail_t *err);

/* The result depends on more than files, so the pillar is marked as not cacheable (reads_mark_world). */
static py_t *
ext_cmd_run(compile_t *self, const json_t *args, parse_fn *parse, fail_t *err)
{
    AUTO_FREE char *command = ext_cmd_command(self, args, err);
    buf_auto_t out = BUF_INIT;

    reads_mark_world(self->env->reads);
    if (command == NULL || ext_cmd_output(self, command, &out, err) < 0)
        return NULL;
    py_t *data = parse(self, &out, err);
    if (data == NULL)
        fail_prefix(err, "what '%s' printed: ", command);
    return data;
}

static py_t *
yaml(compile_t *self, const buf_t *text, fail_t *err)
{
    yproblem_t problem = YPROBLEM_INIT;
    py_t *data = py_yaml_load(buf_str(text), text->len, true, &problem);

    if (data == NULL) {
        py_clear();
        AUTO_FREE char *words = yproblem_show(&problem, NULL, buf_str(text), text->len);
        (void) fail_set(err, -EINVAL, "%s", words);
    }
    yproblem_free(&problem);
    return data;
}

static py_t *
yamlex(compile_t *self, const buf_t *text, fail_t *err)
{
    render_source_t source = { .text = buf_str(text), .len = text->len, .pipeline = "yamlex", .fixed = true };

    return render_data(self->render, &source, err);
}

static py_t *
json(compile_t *self, const buf_t *text, fail_t *err)
{
    py_t *data = py_json_loads(buf_str(text), text->len);

    if (data == NULL)
        (void) compile_raised(err);
    return data;
}

py_t *
ext_cmd_yaml(compile_t *self, py_t *pillar, const json_t *args, fail_t *err)
{
    return ext_cmd_run(self, args, yaml, err);
}

py_t *
ext_cmd_yamlex(compile_t *self, py_t *pillar, const json_t *args, fail_t *err)
{
    return ext_cmd_run(self, args, yamlex, err);
}

py_t *
ext_cmd_json(compile_t *self, py_t *pillar, const json_t *args, fail_t *err)
{
    return ext_cmd_run(self, args, json, err);
}
