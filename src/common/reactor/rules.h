/* rules.h - the option `reactor` made real: which files react to which events, and when.
 *
 * Salt's form names files by the tag of one event; a mapping with `when` and `do` is ours:
 *
 *   reactor:
 *     - 'salt/minion/web*' + '/start': [/srv/reactor/start.sls]     a tag, one file or several
 *     - name: both up                     what errors call it; by default its first tag
 *       when:                             a tag, a list (any of them), or one of all, any, not_all
 *         all:
 *           - salt/minion/db1/start
 *           - tag: 'salt/job/' + '*' + '/ret/web1'
 *             match: {fun: state.apply, retcode: 0}   fields of the event's data, by path
 *       within: 300                       seconds; not_all needs it, and counts from the first event
 *       group_by: data:cluster            path or paths: each value by itself
 *       throttle: {once_within: 60}       or once_after: seconds of quiet
 *       do: salt://reactor/both.sls
 *
 * The state depends on the events alone, their order and their stamps: replaying the
 * same events from a saved state gives the same result.
 *
 * Layer      common/reactor; pure: knows no bus and no clock
 * Threads    one at a time
 * Ownership  results are NEW
 * Errors     -EINVAL: with the entry (counted from 1) and the reason
 * Tests      tests/unit/common/test_reactor.c, tests/cases/reactor
 */
#ifndef COMMON_REACTOR_RULES_H
#define COMMON_REACTOR_RULES_H

#include "salt/base.h"

typedef struct rules rules_t;

/* Prefix of the reactor's own events; only a condition with this prefix matches them. */
#define RULES_OWN_TAG "salt/reactor/"

/* `option` is the configured value: a list, or the path of a file with one. NEW list, or NULL with *err. */
json_t *rules_list(const json_t *option, fail_t *err);
/* Its rules: NEW, or NULL with *err. */
rules_t *rules_new(const json_t *option, fail_t *err);
void rules_destroy(rules_t **self_p);
/* Check a list. 0, or -EINVAL with *ret_entry the index of the wrong entry. */
int rules_check(const json_t *list, size_t *ret_entry, fail_t *err);

/* [glob]: the tags to listen to, each once. Empty: no rule has files. */
json_t *rules_tags(const rules_t *self);
/* [{"file": FILE, "for": TAG or name}]: every file of the rules. */
json_t *rules_files(const rules_t *self);

/* Feed an event. NEW list of the files that react, in the order of the configuration:
 * {"file", "rule": "" for Salt's form, "seq", "tag", "data"}, and for our form also
 * {"events": [{"seq", "tag", "data"}], "count": number of events, "group": value or null, "missing": [tags
 * not seen]}.
 * `seq`, `tag` and `data` are the last event's. For Salt's form a file reacts once, however many entries name
 * it. */
json_t *rules_event(rules_t *self, uint64_t seq, int64_t us, const char *tag, json_t *data);
/* The same for reactions that only time triggers, up to `now_us`. Every event stamped earlier must have been
 * fed. */
json_t *rules_due(rules_t *self, int64_t now_us);
/* The stamp (us) at which rules_due has something to do next; 0: never. */
int64_t rules_next_due(const rules_t *self);

/* The state to save, {rule: {group: {...}}}; empty when there is none. */
json_t *rules_state(const rules_t *self);
/* Restore the saved state of rules that still exist. `state` BORROWED. */
void rules_restore(rules_t *self, const json_t *state);

#endif
