/* show.h - how a command prints: the outputter, colours, --out-file, and sentences for people.
 *
 * Layer      cli
 * Threads    one
 * Tests      tests/unit/cli/test_cli.c
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "common/cli/progress.h"
#include "common/output/output.h"
#include "salt/base.h"

typedef struct show {
    output_opts_t opts;
    const char *output; /* --out, or the configuration's `output`; NULL when neither. BORROWED */
    const char *file;   /* --out-file; NULL: stdout. BORROWED */
    const json_t *conf; /* the configuration, for `others`. BORROWED */
    /* Outputters that are not built in: true when one has appended its text. NULL: there are none. */
    bool (*others)(const json_t *conf, const char *out, const json_t *data, buf_t *text);
    bool quiet;           /* salt-run --quiet */
    bool failed;          /* something could not be written, and was told */
    bool held;            /* what goes to stdout may wait for show_flush */
    progress_t *progress; /* BORROWED: erased before anything is printed; may be NULL */
} show_t;

/* From the options given and the configuration (both BORROWED for as long as `self` lives). Empties an
 * --out-file that is not appended to; an unwritable one is an error. 0, or a negative errno with *err. */
int show_init(show_t *self, const json_t *values, const json_t *conf, fail_t *err);
/* Reads display arguments (exclude=, terse=) out of a function's arguments. `arg` is BORROWED as above. */
void show_args(show_t *self, const json_t *arg);

/* Prints as Salt's display_output does. `out` is the outputter that suits the data; NULL for the default. A
 * `retcode` other than 0 marks the data as failed. */
void show_data(show_t *self, const json_t *data, const char *out, int retcode);
/* The same for the returns of all minions in one piece (--static). */
void show_group(show_t *self, const json_t *data, const char *fun);
/* A text as data: an error that Salt sends through the outputter. */
void show_text(show_t *self, const char *text);
/* To stdout, whatever the outputter and --out-file. */
void show_print(show_t *self, const char *fmt, ...) PRINTF(2, 3);
/* Flushes the buffered output. */
void show_flush(show_t *self);
/* To stderr, behind what goes to stdout. */
void show_error(show_t *self, const char *fmt, ...) PRINTF(2, 3);

/* The outputter to use: `asked` is --out, `out` the one that suits the data, `fun` the function when all
 * minions' returns are shown in one piece, else NULL. Never NULL. */
const char *show_choose(const char *asked, const char *out, const char *fun);
/* True when output is coloured. `conf` is the configuration's `color`, NULL when not set; `env` is NO_COLOR's
 * value. */
bool show_wants_colour(bool force, bool no, const json_t *conf, const char *env, bool terminal);

#endif
