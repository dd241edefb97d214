/* conf.h - the option table made real: files merged, values checked, defaults filled in, samples printed.
 *
 * Layer      common/conf
 * Threads    read-only after conf_load; a reload builds a new one and swaps
 * Errors     -EINVAL names file and line for a wrong value; unknown options are warnings with a suggestion,
 *            and so are those of Salt that have no effect here
 * Tests      tests/unit/common/test_conf.c, tests/unit/common/test_rules.c, tests/cases/bad/conf_*
 */
#ifndef COMMON_CONF_CONF_H
#define COMMON_CONF_CONF_H

#include "salt/base.h"

typedef struct conf conf_t;

typedef enum conf_side { CONF_MASTER = 1, CONF_MINION = 2, CONF_BOTH = 3 } conf_side_t;
typedef enum conf_live { CONF_RESTART, CONF_LIVE } conf_live_t;
typedef enum conf_type {
    CONF_STR,
    CONF_PATH, /* text; relative to root_dir unless root_dir is "/" and the path is absolute: see conf_path */
    CONF_INT,
    CONF_FLOAT,
    CONF_BOOL,
    CONF_LEVEL,   /* a log level's name */
    CONF_STRLIST, /* a list of texts; one text is taken as a list of one */
    CONF_LIST,
    CONF_DICT,
    CONF_WORD,          /* one of the row's names, in any case */
    CONF_WORDS,         /* a list of them; one text is taken as a list of one */
    CONF_PIPELINE,      /* names joined by '|', each with arguments behind it */
    CONF_OPEN_PIPELINE, /* the same, and names that a user's file may have */
    CONF_OPEN_WORDS,
    CONF_PIPELINES,
    CONF_SHAPES,    /* a value of one of the row's shapes */
    CONF_GROUPS,    /* names for compound targets: texts, or lists of words */
    CONF_BATCH,     /* a number, or a part as in 25% */
    CONF_LOGFILE,   /* as CONF_PATH, or the address of a syslog daemon: see syslogline.h */
    CONF_LOGFORMAT, /* how a line of the log looks: see logfmt.h */
    CONF_LOGJID,    /* the same, with one field */
    CONF_LEVELS,    /* a mapping of names to log levels */
    CONF_ANY,       /* checked by the owner */
    CONF_FORBIDDEN  /* refused with its help text as the reason when set to a true value */
} conf_type_t;

typedef enum conf_shape {
    CONF_SWITCH = 1, /* true or false */
    CONF_COUNT = 2,
    CONF_TEXT = 4,
    CONF_TEXTS = 8,
    CONF_MAPPING = 16
} conf_shape_t;
typedef enum conf_effect {
    CONF_HEEDED,
    CONF_MISSED,  /* Salt does something that Halite does not: setting it is a warning */
    CONF_NEEDLESS /* not needed in Halite: setting it is only noted in conf_notes() */
} conf_effect_t;

/* Shape of an option that grants or denies access, down to its texts: conf_rules.c. */
typedef struct conf_rule conf_rule_t;

/* Members of a few bits, as every idle program holds 600 rows. */
typedef struct option_row {
    const char *name;
    conf_type_t type : 8;
    conf_side_t side : 4;
    conf_live_t live : 2;
    conf_effect_t effect : 2;
    unsigned shapes : 16; /* of conf_shape_t */
    const char *dflt;     /* JSON text */
    const char *help;
    double min, max;          /* numbers only; both 0: unbounded */
    const char *const *names; /* of a closed set, ends with NULL */
    const conf_rule_t *rule;  /* of an option that grants or denies access; else NULL */
    const char *instead;      /* CONF_MISSED: what to use */
} option_row_t;

/* Every row of include/salt/options.def, in order; *ret_n rows. BORROWED. */
const option_row_t *conf_rows(size_t *ret_n);

/* The first address (sdb://PROFILE/KEY) in a value. BORROWED, or NULL. */
const char *conf_address(const json_t *v);

/* Read DIR/master (or minion) and DIR/master.d/ *.conf in name order; later files override. A missing
 * folder or file gives the defaults; one out of reach is a failure. `overrides` (object, may be NULL,
 * BORROWED) come last: the command line. NEW, or NULL with *err. Warnings are texts added to `warnings` (a
 * json array, may be NULL). No store is asked for values at addresses: one of our options that has an
 * address keeps its default, and one of a module its text. */
conf_t *conf_load(const char *dir, conf_side_t side, const json_t *overrides, json_t *warnings, fail_t *err);
/* The same for who serves or runs functions: values at addresses are what their stores say, which
 * salt-engine asks within `wait_ms`. Without addresses nothing is started. */
conf_t *conf_load_whole(const char *dir, conf_side_t side, const json_t *overrides, int wait_ms,
                        json_t *warnings, fail_t *err);
/* conf_load() of options that somebody has read, an object, BORROWED: salt-engine. */
conf_t *conf_of(const char *dir, conf_side_t side, const json_t *values, fail_t *err);
void conf_destroy(conf_t **self_p);
/* Texts about options that are set without need; not worth a warning. BORROWED list. */
const json_t *conf_notes(const conf_t *self);

/* The whole configuration with defaults, as Salt's __opts__. BORROWED. Paths are absolute under root_dir,
 * `conf_file` and `config_dir` are set. Defaults of the `user`, `id` kind that depend on the host are
 * resolved. */
json_t *conf_opts(const conf_t *self);
const char *conf_str(const conf_t *self, const char *name); /* "" when null */
json_int_t conf_int(const conf_t *self, const char *name);
double conf_float(const conf_t *self, const char *name);
bool conf_bool(const conf_t *self, const char *name);
json_t *conf_get(const conf_t *self, const char *name); /* BORROWED */

/* The options that a master sends its minions for their state runs. NEW object. */
json_t *conf_master_opts(const json_t *opts);
/* Apply a master's options over a minion's own; only those of conf_master_opts() count. The minion's
 * state_aggregate stays, if it has one. 0, or a negative errno with *err: nothing was changed. */
int conf_apply_master_opts(json_t *opts, const json_t *told, fail_t *err);

/* Every option of a side in the order of options.def, and the heading that it stands below. */
typedef void conf_each_fn(void *cookie, const char *section, const option_row_t *row);
void conf_each(conf_side_t side, conf_each_fn *fn, void *cookie);
/* NEW text of YAML: "name: default", of several lines where the default is a list or a mapping. */
char *conf_default_text(const option_row_t *row);

/* A commented sample of every option of a side, ready for conf/master. NEW text. */
char *conf_sample(conf_side_t side);

/* The lines of a file of ids; a byte order mark at its start is none of them. NEW (strv_free), or NULL with
 * *err: a NUL byte, behind which nothing would be read. */
char **conf_lines(const char *text, size_t len, fail_t *err);

/* True when a text is a valid id of a minion or master: letters a to z in any case, digits and . _ - : only;
 * first a letter, digit or _; 1 to LIMIT_ID_LEN bytes; none of and, or, not. Such an id is safe as a file
 * name, in a tag, in targets of every type, lists, patterns and command lines. *err says what is wrong. */
bool conf_id_valid(const char *id, fail_t *err);

#endif
