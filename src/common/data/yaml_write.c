/* yaml_write.c - events to text through libyaml's emitter.
 *
 * The document starts with the writer and ends with its destruction. libyaml chooses plain, quoted or block
 * style from the flags that each scalar gets: a scalar may be plain only when reading it back gives its kind.
 * yaml_places finds the scalars again in a text that a writer made. */
#include "common/data/yaml_write.h"

#include <limits.h>
#include <yaml.h>

#include "common/base/utf8.h"

#define BINARY_TAG "tag:yaml.org,2002:binary"
#define SET_TAG    "tag:yaml.org,2002:set"
#define TIME_TAG   "tag:yaml.org,2002:timestamp"

struct yaml_writer {
    yaml_emitter_t emitter;
};

/* libyaml's write handler; 1 means success. */
static int
write_bytes(void *cookie, unsigned char *bytes, size_t n)
{
    buf_add(cookie, bytes, n);
    return 1;
}

/* Emits an event; `made` is false when libyaml could not allocate it. Errors other than memory are
 * programming errors: the events are always in a legal order and in UTF-8. */
static void
yaml_write_emit(yaml_writer_t *self, int made, yaml_event_t *ev)
{
    if (!made || (!yaml_emitter_emit(&self->emitter, ev) && self->emitter.error == YAML_MEMORY_ERROR))
        salt_no_memory(sizeof(*ev));
    salt_assert(self->emitter.error == YAML_NO_ERROR);
}

yaml_writer_t *
yaml_writer_new(buf_t *out, const yaml_layout_t *layout)
{
    static const yaml_layout_t plain = { .indent = 0 };
    yaml_writer_t *self = xcalloc(1, sizeof(*self));
    const yaml_layout_t *how = layout != NULL ? layout : &plain;
    yaml_event_t ev;

    if (!yaml_emitter_initialize(&self->emitter))
        salt_no_memory(sizeof(self->emitter));
    yaml_emitter_set_output(&self->emitter, write_bytes, out);
    yaml_emitter_set_unicode(&self->emitter, 1);
    yaml_emitter_set_indent(&self->emitter, how->indent);
    yaml_emitter_set_width(&self->emitter, how->width);
    yaml_write_emit(self, yaml_stream_start_event_initialize(&ev, YAML_UTF8_ENCODING), &ev);
    yaml_write_emit(self, yaml_document_start_event_initialize(&ev, NULL, NULL, NULL, !how->start), &ev);
    return self;
}

void
yaml_writer_destroy(yaml_writer_t **self_p)
{
    yaml_event_t ev;

    if (*self_p == NULL)
        return;
    yaml_write_emit(*self_p, yaml_document_end_event_initialize(&ev, 1), &ev);
    yaml_write_emit(*self_p, yaml_stream_end_event_initialize(&ev), &ev);
    yaml_emitter_delete(&(*self_p)->emitter);
    free(*self_p);
    *self_p = NULL;
}

/* PyYAML's represent_scalar with implicit=(plain, quoted): plain is allowed when the resolver gives the same
 * kind back, untagged quotes for strings only. */
void
yaml_write_scalar(yaml_writer_t *self, const char *anchor, yaml_kind_t kind, const char *text, size_t len)
{
    static const char *const tags[] = {
        [YAML_IS_STR] = YAML_STR_TAG,  [YAML_IS_NULL] = YAML_NULL_TAG,   [YAML_IS_BOOL] = YAML_BOOL_TAG,
        [YAML_IS_INT] = YAML_INT_TAG,  [YAML_IS_FLOAT] = YAML_FLOAT_TAG, [YAML_IS_BINARY] = BINARY_TAG,
        [YAML_IS_TIMESTAMP] = TIME_TAG
    };
    yaml_event_t ev;
    buf_auto_t clean = BUF_INIT;

    if (!utf8_valid(text, len)) {
        /* Copies the text with U+FFFD in place of bytes that are not UTF-8, which libyaml refuses. */
        uint32_t cp;
        for (size_t i = 0, n; i < len; i += n) {
            n = utf8_next(text + i, len - i, &cp);
            buf_add(&clean, n > 0 ? text + i : "\xef\xbf\xbd", n > 0 ? n : 3);
            n = n > 0 ? n : 1;
        }

        text = buf_str(&clean);
        len = clean.len;
    }
    salt_assert(len <= INT_MAX);
    yaml_write_emit(self,
                    yaml_scalar_event_initialize(
                        &ev, (const yaml_char_t *) anchor, (const yaml_char_t *) tags[kind],
                        (const yaml_char_t *) text, (int) len, yaml_resolve(text, len) == kind,
                        kind == YAML_IS_STR,
                        kind == YAML_IS_BINARY ? YAML_LITERAL_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE),
                    &ev);
}

void
yaml_write_list(yaml_writer_t *self, const char *anchor, bool flow)
{
    yaml_event_t ev;

    yaml_write_emit(self,
                    yaml_sequence_start_event_initialize(
                        &ev, (const yaml_char_t *) anchor, (const yaml_char_t *) YAML_SEQ_TAG, 1,
                        flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE),
                    &ev);
}

void
yaml_write_list_end(yaml_writer_t *self)
{
    yaml_event_t ev;

    yaml_write_emit(self, yaml_sequence_end_event_initialize(&ev), &ev);
}

void
yaml_write_map(yaml_writer_t *self, const char *anchor, bool set, bool flow)
{
    yaml_event_t ev;

    yaml_write_emit(
        self,
        yaml_mapping_start_event_initialize(&ev, (const yaml_char_t *) anchor,
                                            (const yaml_char_t *) (set ? SET_TAG : YAML_MAP_TAG), !set,
                                            flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE),
        &ev);
}

void
yaml_write_map_end(yaml_writer_t *self)
{
    yaml_event_t ev;

    yaml_write_emit(self, yaml_mapping_end_event_initialize(&ev), &ev);
}

void
yaml_write_alias(yaml_writer_t *self, const char *anchor)
{
    yaml_event_t ev;

    yaml_write_emit(self, yaml_alias_event_initialize(&ev, (const yaml_char_t *) anchor), &ev);
}

/* ---- places ----------------------------------------------------------------------------------- */

/* Offset after `n` characters from `at`: libyaml's marks count characters. */
static size_t
skip_characters(const char *text, size_t len, size_t at, size_t n)
{
    while (n > 0 && at < len) {
        at++;
        while (at < len && ((unsigned char) text[at] & 0xc0) == 0x80)
            at++;
        n--;
    }
    return at;
}

/* Shrinks a scalar's range to its content: without quotes, or without the head line of a block scalar. */
static yaml_place_t
yaml_write_inside(const char *text, yaml_place_t p, yaml_scalar_style_t style)
{
    const char *line_end;

    switch (style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        return (yaml_place_t){ p.from + 1, p.to - 1 };
    case YAML_LITERAL_SCALAR_STYLE:
    case YAML_FOLDED_SCALAR_STYLE:
        line_end = memchr(text + p.from, '\n', p.to - p.from);
        return line_end != NULL ? (yaml_place_t){ (size_t) (line_end + 1 - text), p.to } : p;
    default:
        return p;
    }
}

/* Scans one token. 1: *ret is the scalar's place, or `from` is SIZE_MAX for other tokens. 0: the end. -1: not
 * YAML. */
static int
next_place(yaml_parser_t *parser, const char *text, size_t len, yaml_place_t *at, yaml_place_t *ret)
{
    yaml_token_t token;

    if (!yaml_parser_scan(parser, &token))
        return -1;
    int rc = token.type != YAML_STREAM_END_TOKEN;
    *ret = (yaml_place_t){ SIZE_MAX, 0 };
    if (token.type == YAML_SCALAR_TOKEN) {
        /* `at->from` is the end of the previous scalar in bytes, `at->to` the same in characters. */
        size_t from = skip_characters(text, len, at->from, token.start_mark.index - at->to);
        size_t to = skip_characters(text, len, from, token.end_mark.index - token.start_mark.index);
        *at = (yaml_place_t){ to, token.end_mark.index };
        *ret = yaml_write_inside(text, (yaml_place_t){ from, to }, token.data.scalar.style);
    }
    yaml_token_delete(&token);
    return rc;
}

int
yaml_places(const char *text, size_t len, yaml_place_t *ret, size_t n)
{
    yaml_place_t at = { 0, 0 }, found;
    yaml_parser_t parser;
    size_t i = 0;
    int rc;

    if (!yaml_parser_initialize(&parser))
        salt_no_memory(sizeof(parser));
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *) text, len);
    while ((rc = next_place(&parser, text, len, &at, &found)) > 0) {
        if (found.from == SIZE_MAX)
            continue;
        if (i < n)
            ret[i] = found;
        i++;
    }
    yaml_parser_delete(&parser);
    return rc == 0 && i == n ? 0 : -1;
}
