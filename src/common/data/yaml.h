/* yaml.h - YAML as PyYAML's safe loader with Salt's changes reads it, and as its safe dumper writes it.
 *
 * Reads YAML 1.1: merge keys, anchors, duplicate keys refused, 0644 read as decimal 644, dates kept as text.
 * Each alias becomes a value of its own; one that contains itself is refused. What JSON cannot say becomes:
 * integers over 64 bits a string of digits; non-string keys Python's str() of them;
 * !!binary a string; !!set an object with null values; inf and nan the strings ".inf", "-.inf", ".nan".
 *
 * Layer      common/data; the only user of libyaml
 * Threads    any
 * Errors     -EINVAL with source, line, that line and a caret; -E2BIG over LIMIT_YAML_NODES,
 *            LIMIT_YAML_TEXT or LIMIT_YAML_DEPTH
 * Tests      tests/unit/common/test_yaml.c, tests/cases/yaml
 */
#ifndef COMMON_DATA_YAML_H
#define COMMON_DATA_YAML_H

#include "salt/base.h"

/* Line numbers of the top-level keys, for messages that name file and line. */
typedef struct yaml_lines yaml_lines_t;
void yaml_lines_destroy(yaml_lines_t **self_p);
/* 1-based line of the top-level `key`; 0 when unknown. */
int yaml_line_of(const yaml_lines_t *self, const char *key);

/* Reads a document. NEW (json null for an empty one), or NULL with err set. `source` names it in messages.
 * `ret_lines` may be NULL; else NEW. */
json_t *yaml_load(const char *text, size_t len, const char *source, yaml_lines_t **ret_lines, fail_t *err);

/* The same, but of a key that stands twice the last value counts; *ret_twice says where: NEW, or NULL for
 * none. */
json_t *yaml_load_repeated(const char *text, size_t len, const char *source, yaml_lines_t **ret_lines,
                           char **ret_twice, fail_t *err);

/* The same for a text that may hold at most `max_nodes` instead of LIMIT_YAML_NODES. */
json_t *yaml_load_within(const char *text, size_t len, const char *source, size_t max_nodes, fail_t *err);

/* Value of an unquoted scalar by YAML 1.1's implicit types: NEW string, number, boolean or null. Never fails:
 * a text that its type cannot represent stays a string. */
json_t *yaml_scalar(const char *text, size_t len);

/* NEW text, as yaml.safe_dump(v, default_flow_style=False) with Salt's output settings; keys in their order.
 * `indent` 0: two spaces; below 0: all on one line, as --out-indent=-1 does. */
char *yaml_dump(const json_t *v, int indent);

#endif
