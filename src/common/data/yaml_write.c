/* yaml_write.c - events to text through libyaml's emitter. */
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

static int
write_bytes(void *cookie, unsigned char *bytes, size_t n)
{
    buf_add(cookie, bytes, n);
    return 1;
}

/* `made`: whether libyaml could make the event. */
static void
emit(yaml_writer_t *self, int made, yaml_event_t *ev)
{
    if (!made || (!yaml_emitter_emit(&self->emitter, ev) && self->emitter.error == YAML_MEMORY_ERROR))
        salt_no_memory(sizeof(*ev));
    salt_assert(self->emitter.error == YAML_NO_ERROR);
}

yaml_writer_t *
yaml_writer_new(buf_t *out, int indent)
{
    yaml_writer_t *self = xcalloc(1, sizeof(*self));
    yaml_event_t ev;

    if (!yaml_emitter_initialize(&self->emitter))
        salt_no_memory(sizeof(self->emitter));
    yaml_emitter_set_output(&self->emitter, write_bytes, out);
    yaml_emitter_set_unicode(&self->emitter, 1);
    yaml_emitter_set_indent(&self->emitter, indent);
    emit(self, yaml_stream_start_event_initialize(&ev, YAML_UTF8_ENCODING), &ev);
    emit(self, yaml_document_start_event_initialize(&ev, NULL, NULL, NULL, 1), &ev);
    return self;
}

void
yaml_writer_destroy(yaml_writer_t **self_p)
{
    yaml_event_t ev;

    if (*self_p == NULL)
        return;
    emit(*self_p, yaml_document_end_event_initialize(&ev, 1), &ev);
    emit(*self_p, yaml_stream_end_event_initialize(&ev), &ev);
    yaml_emitter_delete(&(*self_p)->emitter);
    free(*self_p);
    *self_p = NULL;
}

static const char *
tag_of(yaml_kind_t kind)
{
    static const char *const tags[] = {
        [YAML_IS_STR] = YAML_STR_TAG,  [YAML_IS_NULL] = YAML_NULL_TAG,   [YAML_IS_BOOL] = YAML_BOOL_TAG,
        [YAML_IS_INT] = YAML_INT_TAG,  [YAML_IS_FLOAT] = YAML_FLOAT_TAG, [YAML_IS_BINARY] = BINARY_TAG,
        [YAML_IS_TIMESTAMP] = TIME_TAG
    };

    return tags[kind];
}

/* The text with U+FFFD for bytes that are no UTF-8: libyaml takes nothing else. */
static void
only_utf8(buf_t *out, const char *text, size_t len)
{
    uint32_t cp;

    for (size_t i = 0, n; i < len; i += n) {
        n = utf8_next(text + i, len - i, &cp);
        buf_add(out, n > 0 ? text + i : "\xef\xbf\xbd", n > 0 ? n : 3);
        n = n > 0 ? n : 1;
    }
}

void
yaml_write_scalar(yaml_writer_t *self, const char *anchor, yaml_kind_t kind, const char *text, size_t len)
{
    yaml_event_t ev;
    buf_auto_t clean = BUF_INIT;

    if (!utf8_valid(text, len)) {
        only_utf8(&clean, text, len);
        text = buf_str(&clean);
        len = clean.len;
    }
    salt_assert(len <= INT_MAX);
    emit(self,
         yaml_scalar_event_initialize(
             &ev, (const yaml_char_t *) anchor, (const yaml_char_t *) tag_of(kind),
             (const yaml_char_t *) text, (int) len, yaml_resolve(text, len) == kind, kind == YAML_IS_STR,
             kind == YAML_IS_BINARY ? YAML_LITERAL_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE),
         &ev);
}

void
yaml_write_list(yaml_writer_t *self, const char *anchor, bool flow)
{
    yaml_event_t ev;

    emit(self,
         yaml_sequence_start_event_initialize(&ev, (const yaml_char_t *) anchor,
                                              (const yaml_char_t *) YAML_SEQ_TAG, 1,
                                              flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE),
         &ev);
}

void
yaml_write_list_end(yaml_writer_t *self)
{
    yaml_event_t ev;

    emit(self, yaml_sequence_end_event_initialize(&ev), &ev);
}

void
yaml_write_map(yaml_writer_t *self, const char *anchor, bool set, bool flow)
{
    yaml_event_t ev;

    emit(self,
         yaml_mapping_start_event_initialize(&ev, (const yaml_char_t *) anchor,
                                             (const yaml_char_t *) (set ? SET_TAG : YAML_MAP_TAG), !set,
                                             flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE),
         &ev);
}

void
yaml_write_map_end(yaml_writer_t *self)
{
    yaml_event_t ev;

    emit(self, yaml_mapping_end_event_initialize(&ev), &ev);
}

void
yaml_write_alias(yaml_writer_t *self, const char *anchor)
{
    yaml_event_t ev;

    emit(self, yaml_alias_event_initialize(&ev, (const yaml_char_t *) anchor), &ev);
}
