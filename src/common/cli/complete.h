/* complete.h - what a shell's completion asks a program: PROG --complete WORD... with the words of the
 * command line as far as the last one, which is to be completed. Answers are on stdout, a line each: the
 * whole word as it could be.
 *
 * A completion is asked at every Tab and interrupts nobody: there is no word on stderr, and the exit code is
 * 0, also when there is no master, no permission or no configuration. Names come from peers: one that a shell
 * would read as anything but this word is not printed.
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

/* Whether this is such a command line. From then on stderr is silent. */
bool complete_asked(int argc, char **argv);
/* Reads the words. complete_free it. */
void complete_begin(complete_t *self, const opt_spec_t *spec, int argc, char **argv);
void complete_free(complete_t *self);

/* What is before the last of these bytes in the part belongs to the lead from now on: lists with commas. */
void complete_split(complete_t *self, char separator);
/* If the part begins with this, that belongs to the lead. */
bool complete_lead(complete_t *self, const char *text);
/* Prints lead and name, if the name begins with the part and is harmless. */
void complete_offer(complete_t *self, const char *name);
void complete_offer_all(complete_t *self, const json_t *names); /* array of texts; may be NULL */
/* The values of an option, where its table, or the table of outputters, has all of them. False: they are
 * another's to know. */
bool complete_choices(complete_t *self);
/* State files by their names, "web.nginx", in file_roots of a configuration; `saltenv` NULL: base. */
void complete_sls(complete_t *self, const json_t *opts, const char *saltenv);

/* All of it for a program whose arguments nobody can complete. */
int complete_options(const opt_spec_t *spec, int argc, char **argv);

#endif
