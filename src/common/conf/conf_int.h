/* conf_int.h - internals of common/conf.
 *
 * Layer      common/conf
 * Tests      tests/unit/common/test_conf.c
 */
#ifndef COMMON_CONF_CONF_INT_H
#define COMMON_CONF_CONF_INT_H

#include "common/conf/conf.h"
#include "salt/base.h"

/* The row of an option on one side, or NULL. */
const option_row_t *conf_row(const char *name, conf_side_t side);
/* NEW default, or NULL for an option that is absent unless set. */
json_t *conf_default(const option_row_t *row);

/* Check and convert a value for its row. NEW, or NULL with *err: "WHERE: option 'x' ...". `v` is not null. */
json_t *conf_check(const option_row_t *row, const json_t *v, const char *where, fail_t *err);
/* The check of a single type, for conf_check's table. */
typedef json_t *conf_check_fn(const option_row_t *row, const json_t *v, const char *where, fail_t *err);
conf_check_fn conf_check_text, conf_check_list_of_texts;
conf_check_fn conf_check_word, conf_check_words, conf_check_pipeline, conf_check_open_pipeline,
    conf_check_open_words, conf_check_pipelines;
conf_check_fn conf_check_shapes, conf_check_groups, conf_check_batch;
/* "WHERE: option 'x' wants WANTED, not the text 'y'". NULL. */
json_t *conf_refuse(const option_row_t *row, const json_t *v, const char *wanted, const char *where,
                    fail_t *err);

/* "a list", "nothing", ... */
const char *conf_type_name(const json_t *v);

/* The rules of options.def. */
extern const conf_rule_t conf_rule_acl, conf_rule_eauth, conf_rule_blacklist, conf_rule_mine, conf_rule_peer,
    conf_rule_mine_functions;
extern const conf_rule_t conf_rule_names, conf_rule_globs, conf_rule_allowed, conf_rule_exprs,
    conf_rule_regexes;
extern const conf_rule_t conf_rule_lines, conf_rule_rejects, conf_rule_claims, conf_rule_grains,
    conf_rule_remotes, conf_rule_extmods, conf_rule_conditions, conf_rule_api, conf_rule_choosers,
    conf_rule_policies, conf_rule_vault, conf_rule_module;
/* Check an option's value as written (`said`) against its rule, given all options: 0, or -EINVAL with *err:
 * "WHERE: option 'x': ...". */
int conf_check_rule(const option_row_t *row, json_t *opts, const json_t *said, const char *where,
                    fail_t *err);

/* Closed sets of names, each ending with NULL: renderers of Halite, renderers that Salt has, outputters. */
extern const char *const conf_renderers[], *const conf_renderers_known[], *const conf_outputters[];

#define CONF_COMMAND_LINE "the command line"

/* The files' content: merged values, and for each option where it was set last ("/etc/salt/master, line 3",
 * CONF_COMMAND_LINE). */
typedef struct conf_said {
    json_t *values;    /* object */
    json_t *where;     /* object: option to text */
    json_t *addresses; /* object: option to the address that its value came from; NULL: none did */
} conf_said_t;
int conf_read(const char *dir, conf_side_t side, conf_said_t *out, json_t *warnings, fail_t *err);
void conf_said_free(conf_said_t *said);

/* Values at addresses: leaves out the options of the table that have some, or replaces all addresses by what
 * their stores say. 0, or a negative errno with *err naming option, address and reason. */
void conf_addresses_drop(conf_said_t *said, conf_side_t side);
int conf_addresses_resolve(const char *dir, conf_side_t side, conf_said_t *said, int wait_ms,
                           json_t *warnings, fail_t *err);
/* The error for an option whose value its check has refused: *err as it is, or without the value when that
 * came from a store. -EINVAL. */
int conf_refuse_hidden(const conf_said_t *said, const char *name, fail_t *err);

/* Finish options that depend on others, on the host or on older names. `said` tells which ones the user
 * set. */
int conf_finish(json_t *opts, const conf_said_t *said, conf_side_t side, json_t *warnings, fail_t *err);

/* The id when none is configured: the cached one, else the host's name, unchecked. NEW; NULL with *err when
 * the cached one can't be read, as the host's name would be another minion. *ret_is_address when it is an
 * address; *ret_from, NEW: its source. */
char *conf_guess_id(const json_t *opts, conf_side_t side, bool *ret_is_address, char **ret_from, fail_t *err);
/* Turn a name into an id: invalid characters become '-'. NEW, or NULL when nothing is left. */
char *conf_id_near(const char *name);

/* Add a warning; `warnings` may be NULL. */
void conf_warn(json_t *warnings, const char *fmt, ...) PRINTF(2, 3);

#endif
