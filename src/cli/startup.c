/* startup.c - see startup.h: options, the master's configuration and the log of a command. A setting is the
 * option's value, else the configuration's. */
#include "cli/startup.h"

#include "cli/eauth.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "common/conf/startup.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

int
startup_options(startup_t *self, const opt_spec_t *spec, int argc, char **argv)
{
    *self = (startup_t){ .spec = spec };
    int rc = optparse_run(spec, argc, argv, &self->res);
    self->values = self->res.values;
    return rc;
}

/* Only a log file that is asked for: the configuration's is the master's own. */
static int
start_log_file(const startup_t *self, fail_t *err)
{
    const char *path = value_str(self->values, "log_file", "");
    log_level_t level = LEVEL_WARNING;

    if (*path == '\0')
        return 0;
    (void) log_level_parse(value_str(self->values, "log_level_logfile", "warning"), &level);
    return log_open_file(path, level, err);
}

/* -1 to go on, else the exit code. */
int
startup_configure(startup_t *self)
{
    AUTO_FREE char *dir = startup_conf_dir(self->values);
    json_auto_t *warnings = json_array();
    json_t *warning;
    fail_auto_t err = FAIL_INIT;
    size_t i;

    fs_limit_is_failure();
    self->conf = conf_load(dir, CONF_MASTER, NULL, warnings, &err);
    if (self->conf == NULL) {
        (void) fprintf(stderr, "%s: %s\n", self->spec->prog, fail_text(&err));
        return EXIT_NO_MASTER;
    }
    self->opts = conf_opts(self->conf);
    eauth_set(self->values, self->opts);

    /* Opens the log as the configuration says. */
    log_level_t level = LEVEL_WARNING;
    const char *name = json_string_value(startup_setting(self, "log_level"));
    if (name != NULL)
        (void) log_level_parse(name, &level);
    log_init(self->spec->prog, level, isatty(STDERR_FILENO) == 1);
    startup_log_form(self->opts);

    /* The master says them aloud when it starts. */
    json_array_foreach (warnings, i, warning)
        log_debug("%s", json_string_value(warning));
    if (start_log_file(self, &err) < 0)
        log_error("%s", fail_text(&err));
    return -1;
}

void
startup_free(startup_t *self)
{
    opt_result_free(&self->res);
    conf_destroy(&self->conf);
}

json_t *
startup_setting(const startup_t *self, const char *name)
{
    json_t *v = value_get(self->values, name);

    return v != NULL ? v : value_get(self->opts, name);
}

bool
startup_flag(const startup_t *self, const char *name, bool dflt)
{
    const json_t *v = startup_setting(self, name);

    return v != NULL ? value_truthy(v) : dflt;
}

/* A code of which a shell would see 0 becomes 1. */
int
startup_exit_code(json_int_t code)
{
    int seen = (int) (code & UINT8_MAX);

    return seen == 0 && code != 0 ? EXIT_FAILURE : seen;
}

/* --timeout, else the configuration's, at most LIMIT_SILENCE_S. */
int64_t
startup_timeout_ms(const startup_t *self)
{
    json_int_t s = value_int(self->values, "timeout", 0);

    if (s <= 0)
        s = value_int(self->opts, "timeout", 5);
    return 1000 * (int64_t) (s < LIMIT_SILENCE_S ? s : LIMIT_SILENCE_S);
}
