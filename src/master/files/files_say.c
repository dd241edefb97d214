/* files_say.c - messages about requests. */
#include "master/files/files_int.h"

#include "common/base/str.h"
#include "salt/value.h"

#define WORDS_MAX 2048 /* bytes of an error's text */

/* TAKES *data_p. */
files_out_t *
asking_frame(const asking_t *a, char **data_p, size_t len)
{
    files_out_t *out = xcalloc(1, sizeof(*out));
    memcpy(out->rid, a->rid, a->rid_len);
    out->rid_len = a->rid_len;
    out->data = STEAL(*data_p);
    out->len = len;
    return out;
}

/* NEW string. A text may repeat a path of any length: its middle is cut out. */
static json_t *
files_say_words(const char *text)
{
    size_t len = strlen(text);
    if (len <= WORDS_MAX)
        return value_utf8(text, len);
    AUTO_FREE char *cut = xasprintf("%.*s...%s", WORDS_MAX / 2, text, text + len - WORDS_MAX / 2);
    return value_utf8(cut, strlen(cut));
}

files_out_t *
asking_message(const asking_t *a, wire_msg_t msg, json_t *body)
{
    json_auto_t *held = body;
    size_t len = 0;
    json_object_set_new(held, "n", json_integer(a->n));
    char *text = wire_encode(msg, held, &len, NULL);
    salt_assert(text != NULL);
    return asking_frame(a, &text, len);
}

void
asking_put(files_out_t ***tail, files_out_t *out)
{
    **tail = out;
    *tail = &out->next;
}

files_out_t *
asking_error(const asking_t *self, bool opened, int code, const char *text)
{
    json_auto_t *words = files_say_words(text);
    return asking_message(self, opened ? MSG_file_end : MSG_file_info,
                          json_pack("{s:O, s:i}", "error", words, "code", -code));
}

void
asking_fail(asking_t *a, bool opened, int code, const fail_t *err, files_out_t ***tail)
{
    a->state = ASKING_DONE;
    asking_put(tail, asking_error(a, opened, code,
                                  err != NULL && err->text != NULL ? err->text
                                  : code == -ENOENT                ? ""
                                                                   : strerror(-code)));
}
