/* exec.h - statements that have a file of their own.
 *
 * Layer      common/jinja, private
 * Threads    one
 * Ownership  as run.h
 * Errors     -1 raised; else JX_OK, JX_BREAK or JX_CONTINUE
 * Tests      tests/unit/common/test_jinja.c, tests/cases/jinja
 */
#ifndef COMMON_JINJA_EXEC_H
#define COMMON_JINJA_EXEC_H

#include "common/jinja/run.h"

/* Executors of the statements that involve other templates (exec_import.c). */
int jexec_block(jrun_t *r, const jnode_t *node);
int jexec_extends(jrun_t *r, const jnode_t *node);
int jexec_include(jrun_t *r, const jnode_t *node);
int jexec_import(jrun_t *r, const jnode_t *node);
int jexec_from(jrun_t *r, const jnode_t *node);
/* Prints a dict as repr(), or as str() of Salt's printable dict. */
int jprint_dict(buf_t *out, py_t *dict, bool repr);

#endif
