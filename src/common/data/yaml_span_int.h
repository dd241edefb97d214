/* yaml_span_int.h - what the files about spans share: libyaml's places, which are counts of characters, as
 * bytes.
 *
 * Layer      common/data, private
 * Threads    one at a time per place
 * Ownership  the text is BORROWED
 */
#ifndef COMMON_DATA_YAML_SPAN_INT_H
#define COMMON_DATA_YAML_SPAN_INT_H

#include <yaml.h>

#include "common/data/yaml_span.h"

/* A text that libyaml reads, and a place in it that is both. */
typedef struct yaml_place {
    const char *text;
    size_t len;
    size_t byte, letters;
} yaml_place_t;

/* Its start. */
yaml_place_t yaml_place_of(const char *text, size_t len);
/* Begins to read. The parser is the caller's to delete. */
yaml_place_t yaml_place_begin(yaml_parser_t *parser, const char *text, size_t len);
/* The byte of a character. Places are asked for almost in order, so this is linear in the text for all of
 * them. */
size_t yaml_place_byte(yaml_place_t *self, size_t letters);

/* The spans of a text whose scalars are looked at one after the other. */
typedef struct yaml_said {
    yaml_place_t place;
    const spans_t *spans; /* BORROWED */
    size_t first, n;      /* those that the scalar has bytes of */
    size_t from, to;      /* the scalar, with its quotes */
} yaml_said_t;

/* Moves to the scalar that the event is: whether it has bytes of a span. */
bool yaml_said_next(yaml_said_t *self, const yaml_event_t *ev);

#endif
