/* incrontab.c - see incrontab.h: tables of incron, text to entries and back. */
#include "plugins/lib/system/incrontab.h"

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"

/* The next word, cut off, or NULL. */
static char *
next_word(char **at)
{
    char *word = *at + strspn(*at, " \t");
    size_t n = strcspn(word, " \t");

    if (n == 0)
        return NULL;
    *at = word + n + (word[n] != '\0');
    word[n] = '\0';
    return word;
}

json_t *
incrontab_parse(const char *text)
{
    json_t *crons = json_array(), *pre = json_array();
    AUTO_FREE char *copy = xstrdup(text);

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        AUTO_FREE char *fields = xstrdup(line);
        char *rest = fields, *path = next_word(&rest), *mask = path != NULL ? next_word(&rest) : NULL;
        char *cmd = mask != NULL ? str_trim(rest) : NULL;
        if (str_empty(cmd) || *path == '#')
            json_array_append_new(pre, json_string(line));
        else
            json_array_append_new(crons,
                                  json_pack("{s:s, s:s, s:s}", "path", path, "mask", mask, "cmd", cmd));
    }
    return json_pack("{s:o, s:o}", "crons", crons, "pre", pre);
}

char *
incrontab_text(const json_t *tab)
{
    buf_auto_t text = BUF_INIT;
    json_t *one;
    size_t i;

    json_array_foreach (value_get(tab, "pre"), i, one)
        buf_printf(&text, "%s\n", json_string_value(one));
    json_array_foreach (value_get(tab, "crons"), i, one)
        buf_printf(&text, "%s %s %s\n", value_str(one, "path", ""), value_str(one, "mask", ""),
                   value_str(one, "cmd", ""));
    return xstrdup(buf_str(&text));
}

/* How many words of `some` are in `all`, with the number of those that there are. */
static size_t
common_events(char *const *some, char *const *all)
{
    size_t n = 0;

    for (size_t i = 0; some[i] != NULL; i++)
        for (size_t k = 0; all[k] != NULL; k++)
            if (strcmp(some[i], all[k]) == 0) {
                n++;
                break;
            }
    return n;
}

incrontab_match_t
incrontab_compare(const char *mask, const char *other)
{
    char **a = str_split(mask, ",", true), **b = str_split(other, ",", true);
    size_t here = common_events(a, b), there = common_events(b, a);
    incrontab_match_t match = here == strv_len(a) && there == strv_len(b) ? INCRONTAB_PRESENT
                              : here > 0                                  ? INCRONTAB_OVERLAPS
                                                                          : INCRONTAB_ABSENT;

    strv_free(a);
    strv_free(b);
    return match;
}

incrontab_match_t
incrontab_look(const json_t *tab, const char *path, const char *mask, const char *cmd)
{
    incrontab_match_t best = INCRONTAB_ABSENT;
    json_t *one;
    size_t i;

    json_array_foreach (value_get(tab, "crons"), i, one) {
        if (strcmp(value_str(one, "path", ""), path) != 0 || strcmp(value_str(one, "cmd", ""), cmd) != 0)
            continue;
        incrontab_match_t match = incrontab_compare(mask, value_str(one, "mask", ""));
        if (match > best)
            best = match;
    }
    return best;
}

char *
incrontab_mask(const char *events)
{
    char *mask = xstrdup(events);

    for (char *c = mask; *c != '\0'; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char) (*c - 32) : *c;
    return mask;
}

char *
incrontab_bad_event(const char *mask)
{
    static const char *const known[] = {
        "IN_ACCESS",      "IN_ATTRIB",      "IN_CLOSE_WRITE", "IN_CLOSE_NOWRITE", "IN_CREATE",
        "IN_DELETE",      "IN_DELETE_SELF", "IN_MODIFY",      "IN_MOVE_SELF",     "IN_MOVED_FROM",
        "IN_MOVED_TO",    "IN_OPEN",        "IN_ALL_EVENTS",  "IN_MOVE",          "IN_CLOSE",
        "IN_DONT_FOLLOW", "IN_ONESHOT",     "IN_ONLYDIR",     "IN_NO_LOOP"
    };
    char **events = str_split(mask, ",", false), *bad = NULL;

    for (size_t i = 0; events[i] != NULL && bad == NULL; i++) {
        size_t k = 0;
        while (k < NELEMS(known) && strcmp(known[k], events[i]) != 0)
            k++;
        bad = k == NELEMS(known) ? xstrdup(events[i]) : NULL;
    }
    strv_free(events);
    return bad;
}
