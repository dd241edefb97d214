/* fuzz_eframe.c - any bytes as a block of the event journal: in a frame that is accepted, tag, data and stamp
 * lie within it; and a frame that was written is read back the same.
 *
 * The first byte is the length of the tag; the tag and then the data follow.
 */
#include "master/events/eframe.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 64 * 1024 };

/* Walks the frames in a block and checks their bounds. */
static void
check_frames(const char *bytes, size_t len)
{
    eframe_t e;
    char tag[LIMIT_TAG_LEN + 1];

    while (eframe_read(bytes, len, &e)) {
        salt_assert(e.at == bytes && e.len > 0 && e.len <= len);
        salt_assert(e.tag >= e.at && e.tag + e.tag_len <= e.at + e.len);
        salt_assert(e.data >= e.at && e.data + e.data_len <= e.at + e.len);
        salt_assert(e.stamp >= e.data && e.stamp + EFRAME_STAMP <= e.data + e.data_len);
        salt_assert(eframe_tag(&e, tag) <= LIMIT_TAG_LEN);
        json_auto_t *value = eframe_value(&e);
        salt_assert(value == NULL || json_is_object(value));
        bytes += e.len;
        len -= e.len;
    }
}

/* Writes a frame and reads it back. Tag and data as the callers guarantee them: no control characters, and an
 * object without a stamp of its own. */
static void
check_written(const char *tag, size_t tag_len, const char *text, size_t len)
{
    static const char stamp[] = "2026-11-20T10:00:00.123456";
    for (size_t i = 0; i < tag_len; i++)
        if ((unsigned char) tag[i] < 32 || tag[i] == 127)
            return;
    json_auto_t *name = json_stringn(tag, tag_len);
    json_auto_t *said = json_loadb(text, len, 0, NULL);
    eframe_t e;

    if (name == NULL || tag_len == 0 || tag_len > LIMIT_TAG_LEN || !json_is_object(said) ||
        value_get(said, "_stamp") != NULL)
        return;
    AUTO_FREE char *quoted = value_dump(name), *dumped = value_dump(said);
    size_t n = strlen(quoted) - 2;
    AUTO_FREE char *out = xcalloc(1, eframe_room(n, strlen(dumped)));
    size_t used = eframe_write(out, 7, quoted + 1, n, dumped, strlen(dumped), stamp);
    salt_assert(used <= eframe_room(n, strlen(dumped)) && eframe_read(out, used, &e) && e.len == used &&
                e.seq == 7);
    salt_assert(memcmp(e.stamp, stamp, EFRAME_STAMP) == 0);
    json_auto_t *value = eframe_value(&e);
    salt_assert(value != NULL && json_equal(value_get(value, "tag"), name));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > INPUT_MAX)
        return 0;
    const char *text = (const char *) data + 1;
    size_t len = size - 1, tag_len = data[0] < len ? data[0] : len;

    check_frames(text, len);
    check_written(text, tag_len, text + tag_len, len - tag_len);
    return 0;
}
