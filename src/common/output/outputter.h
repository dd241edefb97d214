/* outputter.h - interface of an outputter: a name and a function. To add one: write its file, add its row in
 * outputters.def.
 *
 * Layer      common/output, for the outputters only; all other code uses output.h
 * Threads    any
 * Tests      tests/unit/common/test_output.c, tests/cases/output
 */
#ifndef COMMON_OUTPUT_OUTPUTTER_H
#define COMMON_OUTPUT_OUTPUTTER_H

#include "common/output/colour.h"
#include "common/output/output.h"

/* Append the text, or return false when the data has a shape that this outputter can't show: its output is
 * dropped and the data shown as nested. `data` is BORROWED and not changed. */
typedef bool outputter_fn(json_t *data, const output_opts_t *opts, buf_t *out);

outputter_fn output_highstate, output_json, output_key, output_nested, output_newline_values_only,
    output_no_return, output_pprint, output_profile, output_quiet, output_raw, output_table, output_txt,
    output_yaml;

/* Members of an object in the order of their keys. NEW array (free it), NULL when empty; its length is
 * json_object_size(object). */
typedef struct output_pair {
    const char *key;
    json_t *value;
} output_pair_t;
output_pair_t *output_sorted(json_t *object);

/* The nested outputter at an indentation, as other outputters embed it: without a newline at the end. */
void output_nested_at(json_t *data, const output_opts_t *opts, int indent, int retcode, buf_t *out);
/* pprint.pformat() with 80 columns. */
void output_pformat(json_t *data, int indent, buf_t *out);
/* str(value); text is not quoted. */
void output_str(buf_t *out, const json_t *value);

/* Draw a table as the table outputter does. `rows` is an array of arrays of texts, the headline among them.
 * False when it holds something else. */
bool output_draw_table(json_t *rows, const output_opts_t *opts, int indent, buf_t *out);

#endif
