/* py_yaml.h - YAML documents to Python values as Salt's loader builds them, and back as PyYAML's dumper does.
 *
 * Layer      common/py; libyaml stays in common/data
 * Threads    as py.h
 * Ownership  said per function
 * Errors     a yproblem_t in PyYAML's words and with its marks
 * Tests      tests/unit/common/test_py_yaml.c, tests/cases/py/yaml-*.json
 */
#ifndef COMMON_PY_PY_YAML_H
#define COMMON_PY_PY_YAML_H

#include "common/data/yaml_node.h"
#include "common/py/py.h"

/* Reads a document, within the limits of the scope. An alias is the same value again. Mappings are
 * OrderedDicts when `ordered`, else dicts. NEW (None for an empty stream), or NULL: with *problem set, or
 * with a Python exception raised (`!!int abc` is a ValueError), which *problem then repeats with its place.
 */
py_t *py_yaml_load(const char *text, size_t len, bool ordered, yproblem_t *problem);
/* The same, ordered, for a text with peers' spans, which fit (common/data/yaml_span.h): texts made from them
 * are marked. */
py_t *py_yaml_load_said(const char *text, size_t len, const spans_t *spans, yproblem_t *problem);
py_t *py_yaml_build(const ynode_t *root, bool ordered, yproblem_t *problem);
/* The same by PyYAML's own safe loader, for data other than SLS files: 0644 is octal, and dates and times
 * become py_yaml_time() values. Mappings are dicts. */
py_t *py_yaml_load_safe(const char *text, size_t len, yproblem_t *problem);

/* A date or a time: it equals another that is written the same, str() gives its text, and the dumper
 * writes it as it was read. NEW; the text BORROWED. */
py_t *py_yaml_time(py_t *text);
/* BORROWED text; NULL for other values. */
py_t *py_yaml_time_text(const py_t *v);

typedef enum py_yaml_flow {
    PY_YAML_BLOCK, /* default_flow_style=False */
    PY_YAML_AUTO,  /* None: innermost containers on one line */
    PY_YAML_FLOW   /* True */
} py_yaml_flow_t;

/* yaml.dump with Salt's safe dumper: shared containers get anchors, plain dicts are sorted, unknown objects
 * are NULL. `layout` may be NULL. NEW str, or NULL raised. */
struct yaml_layout;
py_t *py_yaml_dump(py_t *v, py_yaml_flow_t flow, const struct yaml_layout *layout);

#endif
