/* tags.c - tags that a minion may fire. Salt's namespace is the master's, whose users write patterns such as
 * "salt/key*" and whose `*` matches slashes too: below it a minion has the shapes of a table, each with its
 * own id in it. All other tags are anybody's, but for a few old names of the master's. */
#include "common/net/tags.h"

#include "common/base/clock.h"
#include "common/base/str.h"

/* Shapes, part by part. JID, ID: a jid, the minion's own id; NUMBER: digits; PATH: further parts, none empty;
 * TEXT: anything, as a path or a state's name has slashes of its own. */
static const char *const shapes[] = {
    "salt/minion/ID",
    "salt/minion/ID/PATH",
    "salt/cloud/ID/PATH",
    "salt/beacon/ID/TEXT",
    "salt/job/JID/prog/ID/NUMBER",
    "salt/job/JID/at/ID",
    "salt/state_result/JID/ID/TEXT",
    "minion/refresh/ID",
};

/* Prefixes below which a tag needs one of the shapes; any other tag there is the master's. */
static const char *const spaces[] = { "salt/", "minion/refresh" };

/* Salt's tags of before there were slashes. */
static const char *const old[] = { "auth",    "job",      "key",    "new_client",
                                   "new_job", "presence", "runner", "wheel" };

enum { JID_LEN = 20 };

static bool
tags_part_is(const char *part, size_t len, const char *text)
{
    return strlen(text) == len && memcmp(part, text, len) == 0;
}

/* True when one part of the tag is what the shape's part asks for. */
static bool
tags_part(const char *shape, size_t shape_len, const char *part, size_t len, const char *id)
{
    if (tags_part_is(shape, shape_len, "ID"))
        return tags_part_is(part, len, id);
    if (tags_part_is(shape, shape_len, "JID")) {
        char jid[CLOCK_STAMP_LEN];
        (void) snprintf(jid, sizeof(jid), "%.*s", (int) len, part);
        return len < sizeof(jid) && clock_is_jid(jid);
    }
    if (tags_part_is(shape, shape_len, "NUMBER"))
        return len > 0 && strspn(part, "0123456789") == len;
    return shape_len == len && memcmp(shape, part, len) == 0;
}

/* Compares part by part. TEXT and PATH take all that is left. */
static bool
tags_has_shape(const char *tag, const char *shape, const char *id)
{
    for (;;) {
        if (str_eq(shape, "TEXT"))
            return *tag != '\0';
        if (str_eq(shape, "PATH")) {
            return *tag != '\0' && *tag != '/' && strstr(tag, "//") == NULL && !str_ends(tag, "/");
        }
        size_t n = strcspn(shape, "/"), len = strcspn(tag, "/");
        if (!tags_part(shape, n, tag, len, id) || (shape[n] == '\0') != (tag[len] == '\0'))
            return false;
        if (shape[n] == '\0')
            return true;
        shape += n + 1;
        tag += len + 1;
    }
}

/* `begins`: the tag need only begin with one of the texts. */
static bool
tags_lists(const char *const *texts, size_t n, const char *tag, bool begins)
{
    for (size_t i = 0; i < n; i++)
        if (begins ? str_starts(tag, texts[i]) : str_eq(tag, texts[i]))
            return true;
    return false;
}

/* True for tags with a part "..", which name something else to whoever reads them as paths. */
static bool
tags_goes_up(const char *tag)
{
    for (const char *at = tag; (at = strstr(at, "..")) != NULL; at++)
        if ((at == tag || at[-1] == '/') && (at[2] == '\0' || at[2] == '/'))
            return true;
    return false;
}

bool
tags_of_minion(const char *tag, const char *id, fail_t *err)
{
    bool masters = tags_lists(spaces, NELEMS(spaces), tag, true), own = false;

    for (size_t i = 0; masters && i < NELEMS(shapes) && !own; i++)
        own = tags_has_shape(tag, shapes[i], id) && !tags_goes_up(tag);
    if (!masters) /* a jid alone is Salt's old tag of a job's publication */
        own = !tags_lists(old, NELEMS(old), tag, false) && strspn(tag, "0123456789") < JID_LEN;
    if (!own)
        (void) fail_set(err, -EPERM, "the tag %s is the master's or another minion's; use one of your own",
                        tag);
    return own;
}
