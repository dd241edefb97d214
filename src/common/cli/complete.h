/* complete.h - answers a shell's completion: PROG --complete WORD... with the words of the command line up to
 * the one to complete, which is the last. Each line on stdout is one possible whole word.
 *
 * A completion runs at every Tab and must not disturb the user: stderr is silent, and the exit code is 0,
 * also without a master, a permission or a configuration. Names come from peers: a name that a shell would
 * not read literally is left out.
 *
 * Layer      common/cli
 * Threads    one
 * Tests      tests/unit/common/test_complete.c, tests/t/0320-completion.bats
 */
#ifndef COMMON_CLI_COMPLETE_H
#define COMMON_CLI_COMPLETE_H

#include "common/base/buf.h"
#include "common/cli/optparse.h"

typedef struct complete {
    json_t *values;       /* owned: options before the word, by their keys; flags as in optparse */
    const opt_row_t *row; /* whose value the word is; NULL: it is an argument */
    char **args;          /* owned, ends with NULL: arguments before the word */
    size_t n_args;
    char *lead; /* owned: what stands in the word before the part to complete: "--out=", "a.b," */
    char *part; /* owned */
    FILE *out;
} complete_t;

/* True when the command line asks for a completion. Silences stderr from then on. */
bool complete_asked(int argc, char **argv);
/* Reads the words before the last one. Call complete_free() in the end. */
void complete_begin(complete_t *self, const opt_spec_t *spec, int argc, char **argv);
void complete_free(complete_t *self);

/* Moves everything up to the last separator of the part into the lead, for lists with commas. */
void complete_split(complete_t *self, char separator);
/* Moves `text` into the lead when the part begins with it; returns true then. */
bool complete_lead(complete_t *self, const char *text);
/* Prints the lead and the name, when the name begins with the part and is safe for a shell. */
void complete_offer(complete_t *self, const char *name);
void complete_offer_all(complete_t *self, const json_t *names); /* array of texts; may be NULL */
/* Offers the values of the option at hand when its row, or the table of outputters, lists them all. False:
 * the caller has to find them. */
bool complete_choices(complete_t *self);
/* Offers names of state files, "web.nginx", from file_roots of the configuration; `saltenv` NULL means
 * base. */
void complete_sls(complete_t *self, const json_t *opts, const char *saltenv);

/* The whole completion of a program without arguments to complete: option values only. */
int complete_options(const opt_spec_t *spec, int argc, char **argv);

#endif
