/* yaml_write.h - YAML text from events, with PyYAML's idea of what needs quotes.
 *
 * Layer      common/data; with yaml_node.c the only user of libyaml
 * Threads    one at a time per writer
 * Ownership  the text goes to the caller's buffer; nothing else is kept
 * Errors     none: bytes that are not UTF-8 are written as U+FFFD
 * Tests      tests/unit/common/test_yaml.c, tests/unit/common/test_py_yaml.c
 */
#ifndef COMMON_DATA_YAML_WRITE_H
#define COMMON_DATA_YAML_WRITE_H

#include "common/base/buf.h"
#include "common/data/yaml_scalar.h"

typedef struct yaml_writer yaml_writer_t;

/* How a document is laid out; zeros are PyYAML's defaults. */
typedef struct yaml_layout {
    int indent; /* columns of a level; 0: two */
    int width;  /* columns of a line, beyond which it is broken; 0: 80, -1: none */
    bool start; /* "---" is written */
} yaml_layout_t;

/* NEW. `layout` may be NULL. `out` is BORROWED until the end. */
yaml_writer_t *yaml_writer_new(buf_t *out, const yaml_layout_t *layout);
/* Ends the document, writes the rest to the buffer and frees the writer. Accepts NULL. */
void yaml_writer_destroy(yaml_writer_t **self_p);

/* `anchor` may be NULL, also below. A scalar of a kind whose text would be read as another is quoted or
 * tagged; binary data are written as a block. */
void yaml_write_scalar(yaml_writer_t *self, const char *anchor, yaml_kind_t kind, const char *text,
                       size_t len);
void yaml_write_list(yaml_writer_t *self, const char *anchor, bool flow);
void yaml_write_list_end(yaml_writer_t *self);
/* A mapping, or with `set` the keys of a set. */
void yaml_write_map(yaml_writer_t *self, const char *anchor, bool set, bool flow);
void yaml_write_map_end(yaml_writer_t *self);
void yaml_write_alias(yaml_writer_t *self, const char *anchor);

/* Finds the scalars in a text that a writer made: [from, to) of `text` in bytes for each of the `n`, in
 * order, without quotes and block heads. 0, or -1 when their number is not `n`. */
typedef struct yaml_place {
    size_t from, to;
} yaml_place_t;
int yaml_places(const char *text, size_t len, yaml_place_t *ret, size_t n);

#endif
