/* secontext.c - see secontext.h. */
#include "plugins/lib/system/secontext.h"

#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "common/match/regex.h"

static const char *const parts[] = { "sel_user", "sel_role", "sel_type", "sel_level" };

json_t *
secontext_of(const char *text, fail_t *err)
{
    json_t *context = json_object();

    for (size_t i = 0; i < NELEMS(parts); i++) {
        size_t len = i + 1 < NELEMS(parts) ? strcspn(text, ":") : strlen(text);
        if (len == 0 || (text[len] == '\0' && i + 1 < NELEMS(parts))) {
            json_decref(context);
            fail_kind(err, FAIL_INVOCATION, -EINVAL,
                      "Invalid SELinux context string: %s. Expected \"sel_user:sel_role:sel_type:sel_level\"",
                      text);
            return NULL;
        }
        json_object_set_new(context, parts[i], value_utf8(text, len));
        text += len + (text[len] == ':' ? 1 : 0);
    }
    return context;
}

/* Adds one file, without the parts of its contexts that are the same. */
static int
relabel_add(json_t *into, const char *path, const char *before, const char *after, fail_t *err)
{
    json_auto_t *old = secontext_of(before, err), *now = old != NULL ? secontext_of(after, err) : NULL;

    if (now == NULL)
        return err->code;
    for (size_t i = 0; i < NELEMS(parts); i++) {
        if (json_equal(value_get(old, parts[i]), value_get(now, parts[i]))) {
            json_object_del(old, parts[i]);
            json_object_del(now, parts[i]);
        }
    }
    json_object_set_new(into, path, json_pack("{s:O, s:O}", "old", old, "new", now));
    return 0;
}

json_t *
secontext_relabels(const char *said, fail_t *err)
{
    const char *pattern = str_starts(said, "Would relabel") ? "^Would relabel (.*) from (.*) to (.*)$"
                          : str_starts(said, "restorecon reset")
                              ? "^restorecon reset (.*) context (.*)->(.*)$"
                              : NULL;
    rx_t *line_rx = pattern != NULL ? rx_new(pattern, 0, err) : NULL;
    json_auto_t *changes = json_object();
    AUTO_FREE char *text = xstrdup(said);
    int rc = line_rx != NULL ? 0 : -EINVAL;

    for (char *at = text, *line; rc == 0 && (line = line_next(&at)) != NULL;) {
        int found = rx_search(line_rx, line, strlen(line), 0, err);
        AUTO_FREE char *path = found > 0 ? rx_group_text(line_rx, line, 1) : NULL;
        AUTO_FREE char *before = found > 0 ? rx_group_text(line_rx, line, 2) : NULL;
        AUTO_FREE char *after = found > 0 ? rx_group_text(line_rx, line, 3) : NULL;
        rc = found > 0 ? relabel_add(changes, path, before, after, err) : found;
    }
    rx_destroy(&line_rx);
    return rc == 0 ? json_incref(changes) : NULL;
}
