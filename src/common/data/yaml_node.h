/* yaml_node.h - a YAML document as a tree: composed, typed, merge keys followed; constructing values is the
 * caller's.
 *
 * Layer      common/data
 * Threads    one at a time per document
 * Ownership  nodes belong to their document
 * Errors     a yproblem_t: what PyYAML's exception says, in its words and with its marks
 * Tests      tests/unit/common/test_yaml.c
 */
#ifndef COMMON_DATA_YAML_NODE_H
#define COMMON_DATA_YAML_NODE_H

#include "common/base/span.h"
#include "common/data/yaml_scalar.h"
#include "salt/base.h"

typedef enum yclass {
    YAML_FINE,
    YAML_READER,
    YAML_SCANNER,
    YAML_PARSER,
    YAML_COMPOSER,
    YAML_CONSTRUCTOR,
    YAML_LIMIT
} yclass_t;

/* 0-based; a line of -1: unknown. */
typedef struct ymark {
    int line, column;
} ymark_t;

typedef struct yproblem {
    yclass_t cls;
    char *text; /* owned */
    ymark_t at;
    char *context; /* owned; NULL when there is none */
    ymark_t context_at;
} yproblem_t;

#define YPROBLEM_INIT ROW(.cls = YAML_FINE, .at = { -1, -1 }, .context_at = { -1, -1 })
void yproblem_free(yproblem_t *p);
/* Records the first problem. Returns false. */
bool yproblem_set(yproblem_t *p, yclass_t cls, ymark_t at, const char *fmt, ...) PRINTF(4, 5);
/* The same with what was being done, and where that began. `context` is copied. */
bool yproblem_within(yproblem_t *p, yclass_t cls, const char *context, ymark_t context_at, ymark_t at,
                     const char *fmt, ...) PRINTF(6, 7);
/* "SOURCE: line 4, column 3: problem (context, line 2)", that line and a caret. NEW text. */
char *yproblem_show(const yproblem_t *p, const char *source, const char *text, size_t len);

typedef struct ynode ynode_t;
typedef struct ypair {
    ynode_t *key, *value;
} ypair_t;

typedef enum yshape { YSCALAR, YSEQ, YMAP } yshape_t;

struct ynode {
    yshape_t shape;
    yaml_kind_t kind;
    ymark_t at;
    bool open;           /* while composing: an alias to it would contain itself */
    bool shared;         /* more than one place leads to it: an alias, or a merge key */
    const char *tag;     /* as written; NULL when resolved */
    const spans_t *said; /* of a scalar's text, what peers said; NULL: nothing */
    size_t n;            /* bytes, items or pairs */
    union {
        const char *text; /* NUL-terminated, may contain NUL */
        ynode_t **items;
        ypair_t *pairs; /* merged ones first, as Salt orders them */
    };
};
const char *ynode_shape_name(const ynode_t *node);

typedef struct ydoc ydoc_t;
/* Reads a document of at most `max_nodes`. NEW, or NULL with problem set. */
ydoc_t *ydoc_new(const char *text, size_t len, size_t max_nodes, yproblem_t *problem);
void ydoc_destroy(ydoc_t **self_p);
/* The same, but an alias may stand inside the node that it names: a graph with cycles. Spans of the text,
 * which fit (yaml_span.h), become those of its scalars; NULL: none. */
ydoc_t *ydoc_new_graph(const char *text, size_t len, const spans_t *spans, yproblem_t *problem);
/* NULL for an empty stream. BORROWED. */
ynode_t *ydoc_root(const ydoc_t *self);

#endif
