/* optparse.h - command lines from a table, with the help text, errors and exit codes of Python's optparse as
 * Salt shows them.
 *
 * Layer      common/cli
 * Errors     a bad option prints "Usage: ...\n\nPROG: error: ..." on stderr and gives exit code 64 (EX_USAGE)
 * Tests      tests/unit/common/test_optparse.c; fuzz target tests/fuzz/fuzz_optparse.c
 */
#ifndef COMMON_CLI_OPTPARSE_H
#define COMMON_CLI_OPTPARSE_H

#include "common/base/buf.h"
#include "salt/base.h"

typedef enum opt_kind {
    OPT_FLAG,   /* sets true */
    OPT_UNFLAG, /* sets false (--no-color) */
    OPT_STR,
    OPT_INT,
    OPT_FLOAT,
    OPT_BOOL, /* takes True or False */
    OPT_LIST, /* comma-separated or repeated: a list of texts */
    OPT_COUNT,
    OPT_HELP,
    OPT_VERSION,
    OPT_VERSIONS_REPORT,
    OPT_GROUP /* not an option: a headline in the help (names) with its description (help) or NULL; ends with
                 the table */
} opt_kind_t;

typedef struct opt_row {
    const char *names; /* "-t --timeout"; the first long name, '-' as '_', is the key of the result */
    opt_kind_t kind;
    const char *dest; /* key of the result when not the name; several rows may share one (targets) */
    const char
        *value; /* the text that a flag stores instead of true; such flags of one `dest` exclude each other */
    const char *metavar; /* NULL: the key in capitals */
    const char *choices; /* "a|b|c" or NULL */
    const char *help;    /* "%prog" is replaced; NULL hides the option */
    const char *idle;    /* of Salt's, and taken: why it has no effect here, which is then told */
    const char *refused; /* of Salt's, and an error: why, and what to do instead */
    bool once;           /* a second value is an error; else it takes the place of the first, as in Salt */
} opt_row_t;

typedef struct opt_spec {
    const char *prog;
    const char *usage;              /* "%prog [options] '<target>' <function> [arguments]" */
    const char *description;        /* NULL: none */
    const char *examples;           /* lines for the end of the help; NULL: none */
    const opt_row_t *const *tables; /* NULL-terminated: tables are shared between programs */
    bool bare;                      /* takes no positional arguments: one is an error */
    bool interspersed; /* options may follow positional arguments (salt, salt-key); salt-call and salt-run too
                        */
} opt_spec_t;

#define OPT_ROW_END ROW(.names = NULL)

typedef struct opt_result {
    json_t *values; /* owned object: only what was given */
    char **args;    /* owned, NULL-terminated: positional */
    size_t n_args;
} opt_result_t;

/* Parses the command line into `ret`, which is filled even after an error: call opt_result_free(). Returns -1
 * to go on, or the exit code when the program has to end now (help, version, usage error) and has written its
 * text to stdout or stderr. */
int optparse_run(const opt_spec_t *spec, int argc, char **argv, opt_result_t *ret);
void opt_result_free(opt_result_t *res);
/* Appends the whole help, wrapped at `width` columns. */
void optparse_help(const opt_spec_t *spec, int width, buf_t *out);
/* Writes "Usage: ...\n\nPROG: error: text" to stderr. Returns 64. */
int optparse_error(const opt_spec_t *spec, const char *fmt, ...) PRINTF(2, 3);

/* Rows that several programs share. A result has the name of the configuration option that it overrides, if
 * there is one. */
extern const opt_row_t opt_common[];      /* --version, -V, -h, -c */
extern const opt_row_t opt_logging[];     /* -l, --log-file, --log-file-level */
extern const opt_row_t opt_logging_key[]; /* the same for salt-key, whose -l lists keys */
extern const opt_row_t opt_output[];      /* --out ... --state-verbose */
extern const opt_row_t opt_targets[];     /* -E -L -G -P -N -R -C -I -J -S: `tgt_type`; --delimiter */
extern const opt_row_t opt_arguments[];   /* --args-stdin (read by optparse_run itself), --no-parse */
extern const opt_row_t opt_daemon[];      /* -d, --pid-file, -u */
extern const opt_row_t opt_auth[];        /* external authentication */
extern const opt_row_t opt_auth_key[];    /* the same for salt-key, whose -a accepts keys */

#endif
