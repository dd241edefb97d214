/* ignore.c - file_ignore_regex and file_ignore_glob: patterns of paths that the file server does not serve.
 * The regular expressions are compiled once. */
#include "common/files/backend.h"

#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/regex.h"
#include "salt/log.h"
#include "salt/value.h"

struct ignore {
    rx_t **rx;
    size_t n_rx;
    json_t *globs; /* owned list */
};

/* A pattern that can't be compiled is skipped with a warning: it must not keep the file server from
 * starting. */
ignore_t *
ignore_new(json_t *opts)
{
    ignore_t *self = xcalloc(1, sizeof(*self));
    json_t *patterns = value_get(opts, "file_ignore_regex"), *globs = value_get(opts, "file_ignore_glob"), *p;
    size_t i;
    self->rx = xcalloc(json_array_size(patterns) + 1, sizeof(*self->rx));
    json_array_foreach (patterns, i, p) {
        fail_auto_t err = FAIL_INIT;
        rx_t *rx = json_is_string(p) ? rx_new(json_string_value(p), 0, &err) : NULL;
        if (rx != NULL)
            self->rx[self->n_rx++] = rx;
        else
            log_warning("file_ignore_regex: item %zu is skipped: %s", i + 1,
                        json_is_string(p) ? fail_text(&err) : "it is not text");
    }
    self->globs = json_is_array(globs) ? json_incref(globs) : json_array();
    return self;
}

void
ignore_destroy(ignore_t **self_p)
{
    ignore_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n_rx; i++)
        rx_destroy(&self->rx[i]);
    free(self->rx);
    json_decref(self->globs);
    free(self);
}

bool
ignore_match(ignore_t *self, const char *path)
{
    json_t *glob;
    size_t i;
    for (i = 0; i < self->n_rx; i++)
        if (rx_search(self->rx[i], path, strlen(path), 0, NULL) == 1)
            return true;
    json_array_foreach (self->globs, i, glob)
        if (json_is_string(glob) && match_glob(json_string_value(glob), path))
            return true;
    return false;
}

/* True when the list has `text` as a word, a glob or a regular expression. */
static bool
files_ignore_is_listed(const json_t *list, const char *text)
{
    json_t *one;
    size_t i;
    json_array_foreach (list, i, one) {
        const char *pattern = json_is_string(one) ? json_string_value(one) : "";
        AUTO_FREE char *whole = xasprintf("^(?:%s)$", pattern);
        if (str_eq(pattern, text) || match_glob(pattern, text) || match_pcre(whole, text, NULL))
            return true;
    }
    return false;
}

/* The blacklist outweighs the whitelist; an empty whitelist admits all. */
bool
files_is_exposed(const json_t *only, const json_t *without, const char *text)
{
    return (json_array_size(only) == 0 || files_ignore_is_listed(only, text)) &&
           !files_ignore_is_listed(without, text);
}
