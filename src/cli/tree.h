/* tree.h - the steps of an orchestration as lines of a tree: what is done, failed, at work, and still to come.
 *
 * What the master tells of a run (runners/lib/orchrun.c), as {phase, ...}:
 *   plan   {run, steps: [{tag, id, state, fun}], more?: number of those not named}
 *   begin  {tag, id, state, fun}
 *   at     {tag, done, of}: minions that have returned
 *   end    {tag, result, done?, of?, ran?: false, kept?: true, comment?: of one that failed}
 *   over   {run, success}
 *
 * Pure. Layer      cli
 * Threads    one
 * Tests      tests/unit/cli/test_tree.c
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include "common/base/buf.h"
#include "salt/base.h"

typedef struct tree tree_t;

tree_t *tree_new(bool utf8, bool colour); /* NEW */
void tree_destroy(tree_t **self_p);       /* accepts NULL */

/* Takes one message. Unknown phases, and steps that nobody named, are ignored. */
void tree_take(tree_t *self, const json_t *push, int64_t now_ms);
size_t tree_steps(const tree_t *self);

/* Appends the lines: none wider than `columns` - 1, about `rows` at most. Where not all fit, steps that are
 * done become one line and those to come another; failed ones and those at work come first. */
void tree_text(const tree_t *self, int64_t now_ms, size_t columns, size_t rows, buf_t *out);

#endif
