/* yaml_span_int.h - shared by the files about spans: libyaml's places, which count characters, as bytes.
 *
 * Layer      common/data, private
 * Threads    one at a time per place
 * Ownership  the text is BORROWED */
#ifndef COMMON_DATA_YAML_SPAN_INT_H
#define COMMON_DATA_YAML_SPAN_INT_H

#include <yaml.h>

#include "common/data/yaml_span.h"

/* A text that libyaml reads, and one place in it both as a byte offset and as a count of characters. */
typedef struct yaml_place {
    const char *text;
    size_t len;
    size_t byte, letters;
} yaml_place_t;

/* The start of the text, after a byte order mark. */
yaml_place_t yaml_place_of(const char *text, size_t len);
/* Initialises the parser with the text. The caller deletes the parser. */
yaml_place_t yaml_place_begin(yaml_parser_t *parser, const char *text, size_t len);
/* Byte offset of a character. Callers ask almost in order, so all calls together are linear in the text. */
size_t yaml_place_byte(yaml_place_t *self, size_t letters);

/* Cursor over the spans of a text whose scalars are visited one after the other. */
typedef struct yaml_said {
    yaml_place_t place;
    const spans_t *spans; /* BORROWED */
    size_t first, n;      /* those that the scalar has bytes of */
    size_t from, to;      /* the scalar, with its quotes */
} yaml_said_t;

/* Moves to the scalar of the event. True when it has bytes of a span. */
bool yaml_said_next(yaml_said_t *self, const yaml_event_t *ev);

#endif
