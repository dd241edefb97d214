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
 * What it remembers is a function of the events alone, in their order and by their stamps: whoever feeds the
 * same again from a state that was saved gets the same again.
 *
 * Layer      common/reactor; pure: knows no bus and no clock
 * Threads    one at a time
 * Ownership  results are NEW
 * Errors     -EINVAL: which entry (counted from 1), what is wrong with it
 * Tests      tests/unit/common/test_reactor.c, tests/cases/reactor
 */
#ifndef COMMON_REACTOR_RULES_H
#define COMMON_REACTOR_RULES_H

#include "salt/base.h"

typedef struct rules rules_t;

/* The reactor's own events begin so; only a tag that begins so too matches them. */
#define RULES_OWN_TAG "salt/reactor/"

/* `option` is what the configuration says: the list, or the path of a file with one. The list: NEW, or NULL
 * with *err. */
json_t *rules_list(const json_t *option, fail_t *err);
/* Its rules: NEW, or NULL with *err. */
rules_t *rules_new(const json_t *option, fail_t *err);
void rules_destroy(rules_t **self_p);
/* Whether a list is sound. *ret_entry: the index of the one that is not. */
int rules_check(const json_t *list, size_t *ret_entry, fail_t *err);

/* [glob]: what to listen to, each once. Empty: nobody reacts to anything. */
json_t *rules_tags(const rules_t *self);
/* [{"file": FILE, "for": TAG or name}]: every file that is named. */
json_t *rules_files(const rules_t *self);

/* An event. NEW list of what it sets off, a file each, in the order of the configuration:
 *   {"file", "rule": "" for Salt's form, "seq", "tag", "data"}, and for ours
 *   {"events": [{"seq", "tag", "data"}], "count": events that it stands for, "group": value or null,
 *    "missing": [tags not seen]}
 * `seq`, `tag` and `data` are those of the last event. A file stands there once for Salt's form, whatever
 * number of entries name it. */
json_t *rules_event(rules_t *self, uint64_t seq, int64_t us, const char *tag, json_t *data);
/* The same for what only time sets off, up to `now_us`. Every event stamped earlier must have been given. */
json_t *rules_due(rules_t *self, int64_t now_us);
/* When rules_due has something to do next; 0: never. */
int64_t rules_next_due(const rules_t *self);

/* What is remembered, {rule: {group: {...}}}; empty when nothing is. */
json_t *rules_state(const rules_t *self);
/* Take over what was remembered of rules that there still are. `state` BORROWED. */
void rules_restore(rules_t *self, const json_t *state);

#endif
