/* retopts.h - options of a returner, as salt.returners.get_returner_options finds them, and texts as Salt's
 * returners write them.
 *
 * An option `key` of the returner `name` is the first true value among ALT.NAME: {key}, ALT.NAME.key (ALT is
 * the return's ret_config), NAME: {key}, NAME.key, and the default. Each is looked for in the configuration,
 * the grains, the pillar, and the master's configuration as the pillar brings it. The return's ret_kwargs go
 * above all of them.
 *
 * Layer      plugins/lib/returner
 * Threads    one per context
 * Ownership  results are NEW
 * Source     Salt 3006, salt/returners/__init__.py
 * Tests      tests/unit/plugins/test_returner_cases.c
 */
#ifndef PLUGINS_LIB_RETURNER_RETOPTS_H
#define PLUGINS_LIB_RETURNER_RETOPTS_H

#include "salt/plugin.h"

typedef struct retopt {
    const char *name; /* of the result */
    const char *key;  /* of the configuration; NULL: the same */
    const char *dflt; /* JSON; NULL: absent unless it is set */
} retopt_t;

/* NEW object of the options of `rows`. `ret`: the return that is stored; NULL or an event: no ret_config. */
json_t *retopts(call_ctx_t *ctx, const char *name, const json_t *ret, const retopt_t *rows, size_t n);
/* A setting by its whole name, from the same places. BORROWED; NULL: it is not set. */
json_t *retopts_setting(call_ctx_t *ctx, const char *name);

/* The value as Salt's salt.utils.json.dumps writes it: ", " and ": ", not ASCII alone; a deeper one than
 * Python's values may be here (a peer's message may be) without these blanks. NEW. */
char *ret_json(const json_t *v);
/* True when the name is in the object `told` already; else it is afterwards. A batch has many returns of one
 * job: what all of them say of it is stored once. `told` NULL: nothing is ever told. */
bool ret_told(json_t *told, const char *name);
/* The job of a load as `jobs` shows it (salt.utils.jid.format_jid_instance). */
json_t *ret_job_instance(const char *jid, const json_t *load);
/* "2026, Nov 26 22:23:56.123456" of a jid (salt.utils.jid.jid_to_time); "" of another text. */
char *ret_jid_time(const char *jid);
/* The jid that prep_jid returns: the passed one, else a new one. */
int ret_prep_jid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

/* Arguments and texts of the interface's functions. What follows `fn` goes into the row: .data.ptr = ... */
extern const arg_t ret_args_returner[], ret_args_events[], ret_args_prep[], ret_args_load[], ret_args_jid[],
    ret_args_fun[], ret_args_cursor[], ret_args_batch[];
#define RET_ROW_RETURNER(fn, ...)                                                                            \
    ROW("returner", fn, ret_args_returner, 0, "Store the return of a job.", ##__VA_ARGS__)
#define RET_ROW_EVENTS(fn, ...)                                                                              \
    ROW("event_return", fn, ret_args_events, 0, "Store events of the master's bus.", ##__VA_ARGS__)
#define RET_ROW_PREP                                                                                         \
    ROW("prep_jid", ret_prep_jid, ret_args_prep, 0, "Return the job id that is passed, or a new one.")
#define RET_ROW_SAVE(fn, ...)                                                                                \
    ROW("save_load", fn, ret_args_load, 0, "Store what was published for a job.", ##__VA_ARGS__)
#define RET_ROW_LOAD(fn, ...)                                                                                \
    ROW("get_load", fn, ret_args_jid, 0, "Return what was published for a job; {} when it is not known.",    \
        ##__VA_ARGS__)
#define RET_ROW_JID(fn, ...)                                                                                 \
    ROW("get_jid", fn, ret_args_jid, 0, "Return what the minions returned for a job, by minion.",            \
        ##__VA_ARGS__)
#define RET_ROW_FUN(fn, ...)                                                                                 \
    ROW("get_fun", fn, ret_args_fun, 0, "Return the last return of a function, by minion.", ##__VA_ARGS__)
#define RET_ROW_JIDS(fn, ...) ROW("get_jids", fn, NULL, 0, "Return all jobs, by job id.", ##__VA_ARGS__)
#define RET_ROW_MINIONS(fn, ...)                                                                             \
    ROW("get_minions", fn, NULL, 0, "Return the ids of all minions that have returned something.",           \
        ##__VA_ARGS__)
#define RET_ROW_CLEAN(fn, ...)                                                                               \
    ROW("clean_old_jobs", fn, NULL, 0, "Remove what is older than keep_jobs_seconds.", ##__VA_ARGS__)
#define RET_ROW_CURSOR(fn, ...)                                                                                              \
    ROW("cursor", fn, ret_args_cursor, 0,                                                                                    \
        "Return the number of the last event that a follower of the journal has stored here; None when it has stored none.", \
        ##__VA_ARGS__)
#define RET_ROW_BATCH(fn, ...)                                                                               \
    ROW("batch", fn, ret_args_batch, 0,                                                                      \
        "Store what a follower of the journal read, and the number of its last event, all or nothing.",      \
        ##__VA_ARGS__)

#endif
