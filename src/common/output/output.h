/* output.h - show results: one file per outputter, found by name in a table.
 *
 * Layer      common/output
 * Threads    any
 * Tests      tests/unit/common/test_output.c, tests/cases/output (text as real Salt prints it)
 */
#ifndef COMMON_OUTPUT_OUTPUT_H
#define COMMON_OUTPUT_OUTPUT_H

#include "common/base/buf.h"
#include "common/output/colour.h"
#include "salt/base.h"

typedef struct output_opts {
    const char *out; /* outputter, NULL: nested */
    int indent;      /* --out-indent; OUTPUT_INDENT_DEFAULT when not given */
    paint_t colour;
    const char *state_output; /* full, terse, mixed, changes, filter, *_id; NULL: full */
    bool state_verbose;       /* show green states */
    bool state_tabular;
    bool state_compress_ids;
    bool state_output_profile; /* Started and Duration lines */
    bool state_output_diff;
    bool state_output_pct;
    bool person;           /* the reader is a person: summaries tell states that requisites kept from running
                              apart from failed ones, which Salt counts as failed */
    bool tuple;            /* the return is a tuple in Salt, which txt shows */
    bool strip_colors;     /* show escape characters in data as '?' */
    int retcode;           /* not 0: nested shows what failed in red */
    const json_t *exclude; /* state_output filter: results ("True,None" or a list) to leave out. BORROWED, may
                              be NULL */
    const json_t *terse;   /* state_output filter: results to show on one line. BORROWED, may be NULL */
} output_opts_t;

#define OUTPUT_INDENT_DEFAULT (-9999)
#define OUTPUT_OPTS_INIT                                                                                     \
    ROW(.indent = OUTPUT_INDENT_DEFAULT, .state_verbose = true, .state_output_profile = true,                \
        .strip_colors = true)

/* The outputter that a minion's return names, if it shows the data and whose it is; else NULL, the default
 * one. Accepts NULL. BORROWED. */
const char *output_claimed(const char *name);
/* True when an outputter of this name exists. */
bool output_known(const char *name);
/* Append `data` as the outputter prints it, ending with a newline where Salt's does. `data` is the argument
 * of Salt's display_output: {minion: return} for `salt`, the bare return for a runner; values that JSON lacks
 * are in py_wire's form. An unknown name counts as nested. */
void output_format(const json_t *data, const output_opts_t *opts, buf_t *out);
/* Sets the settings of states and of colours in data as `given` says, else as `conf`. Both BORROWED, and what
 * they hold as long as *opts is used. */
void output_opts_read(output_opts_t *opts, const json_t *given, const json_t *conf);
/* The names, for --help and suggestions. NULL-terminated. BORROWED. */
const char *const *output_names(void);

#endif
