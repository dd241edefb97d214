/* startup.h - what every operator's program does first: options, configuration, log.
 *
 * Layer      cli
 * Threads    one
 * Errors     texts on stderr and an exit code
 * Tests      tests/t
 */
#ifndef CLI_STARTUP_H
#define CLI_STARTUP_H

#include "common/cli/optparse.h"
#include "common/conf/conf.h"

enum {
    EXIT_NO_MASTER =
        2 /* Salt's code for a client that can't reach its master, and for "No return received" */
};

typedef struct startup {
    const opt_spec_t *spec;
    opt_result_t res;
    conf_t *conf;
    json_t *values; /* BORROWED: the options given */
    json_t *opts;   /* BORROWED: the master's configuration */
} startup_t;

/* The command line. -1 to go on, or the exit code. startup_free either way. */
int startup_options(startup_t *self, const opt_spec_t *spec, int argc, char **argv);
/* The configuration and the log. -1 to go on, or the exit code. */
int startup_configure(startup_t *self);
void startup_free(startup_t *self);

/* The option as given, else the configuration's, else NULL. BORROWED. */
json_t *startup_setting(const startup_t *self, const char *name);
bool startup_flag(const startup_t *self, const char *name, bool dflt);
/* Maps a return code to the exit byte that a shell sees; a non-zero multiple of 256 must not become 0, so it
 * stays a failure. */
int startup_exit_code(json_int_t code);
/* --timeout, else the option timeout. */
int64_t startup_timeout_ms(const startup_t *self);

#endif
