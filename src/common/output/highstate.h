/* highstate.h - the parts of the highstate outputter: hosts, states, summary, compressed ids.
 *
 * Layer      common/output, for highstate*.c only
 * Threads    any
 * Errors     false: the data are not state results, they are shown as nested
 * Tests      tests/unit/common/test_output.c, tests/cases/output
 */
#ifndef COMMON_OUTPUT_HIGHSTATE_H
#define COMMON_OUTPUT_HIGHSTATE_H

#include "common/base/map.h"
#include "common/output/outputter.h"

#define HS_SEPARATOR "_|-"
enum { HS_NAME_PARTS = 4, HS_INDENT = 14 };

/* Counts of one host. */
typedef struct hs_totals {
    size_t ok, failed, not_run;
    size_t kept; /* of the failed: a requisite kept them from running */
    size_t with_warnings;
    map_t *other;       /* other results: repr() to a count (size_t *) */
    size_t changed;     /* for the summary: changes of states that did not fail */
    bool any_change;    /* of any state, for an embedding orchestration */
    double run_ms;      /* sum of all but the parallel ones */
    double parallel_ms; /* the longest parallel one */
} hs_totals_t;

/* A state of a host. */
typedef struct hs_state {
    const char *name; /* "module_|-id_|-name_|-function" */
    json_t *ret;      /* BORROWED */
    double order;
    size_t n;          /* as found, for a stable order */
    size_t compressed; /* how many states were rolled into this one; 1 for none */
    char **parts;      /* owned: the name's parts */
    size_t n_parts;
} hs_state_t;

typedef enum hs_result { HS_OK, HS_FAILED, HS_NOT_RUN, HS_OTHER } hs_result_t;
hs_result_t hs_result(const json_t *result);

/* The changes of a state as text, to stand behind "Changes:". */
typedef struct hs_changes {
    buf_t text;
    bool any; /* there were changes */
} hs_changes_t;
/* Append one state's lines to `body`, each with a newline in front; adds to the totals. *host_colour becomes
 * the colour of the host's line when this state decides it. */
bool hs_state(const hs_state_t *s, const hs_changes_t *changes, const output_opts_t *opts,
              hs_totals_t *totals, colour_t *host_colour, buf_t *body);
/* Append the summary, a newline in front of each line. */
void hs_summary(const char *host, const hs_totals_t *t, const output_opts_t *opts, buf_t *body);
/* Merge states with the same id, file and result. NEW data; NULL when they can't be merged. */
json_t *hs_compress(json_t *data);

/* Parts of "a_|-b_|-c_|-d". NEW, ends with NULL. */
char **hs_split(const char *name, size_t *ret_n);

#endif
