/* fstate_pats.c - include_pat and exclude_pat of states: which paths a pattern means. */
#include "plugins/lib/file/fstate_pats.h"

#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/regex.h"
#include "salt/value.h"

struct fstate_pat {
    char *glob;
    rx_t *rx; /* NULL: the glob */
};

static int
pat_read(struct fstate_pat *self, const char *what, const json_t *pattern, fail_t *err)
{
    const char *text = json_string_value(pattern);
    fail_auto_t why = FAIL_INIT;

    if (text == NULL) {
        AUTO_FREE char *shown = value_pystr(pattern);
        return fail_set(err, -EINVAL, "%s: %s is not text; write it in quotes", what, shown);
    }
    if (!str_starts(text, "E@")) {
        self->glob = xstrdup(text);
        return 0;
    }
    self->rx = rx_new(text + 2, 0, &why);
    return self->rx != NULL ? 0 : fail_set(err, -EINVAL, "%s: '%s': %s", what, text, fail_text(&why));
}

static int
pats_read(struct fstate_pat **ret_v, size_t *ret_n, const char *what, const json_t *patterns, fail_t *err)
{
    bool many = json_is_array(patterns);
    size_t n = many ? json_array_size(patterns) : value_truthy(patterns) ? 1 : 0;
    int rc = 0;

    *ret_v = xcalloc(n + 1, sizeof(**ret_v));
    *ret_n = n;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = pat_read(&(*ret_v)[i], what, many ? json_array_get(patterns, i) : patterns, err);
    return rc;
}

int
fstate_pats_read(fstate_pats_t *self, const json_t *include, const json_t *exclude, fail_t *err)
{
    int rc = pats_read(&self->include, &self->n_include, "include_pat", include, err);

    return rc != 0 ? rc : pats_read(&self->exclude, &self->n_exclude, "exclude_pat", exclude, err);
}

static void
pats_free(struct fstate_pat *v, size_t n)
{
    for (size_t i = 0; v != NULL && i < n; i++) {
        free(v[i].glob);
        rx_destroy(&v[i].rx);
    }
    free(v);
}

void
fstate_pats_free(fstate_pats_t *self)
{
    pats_free(self->include, self->n_include);
    pats_free(self->exclude, self->n_exclude);
    *self = (fstate_pats_t){ 0 };
}

static int
any_fits(const struct fstate_pat *v, size_t n, const char *path, fail_t *err)
{
    int fits = 0;

    for (size_t i = 0; i < n && fits == 0; i++)
        fits = v[i].rx != NULL ? rx_search(v[i].rx, path, strlen(path), 0, err) : match_glob(v[i].glob, path);
    return fits;
}

int
fstate_pats_let(const fstate_pats_t *self, const char *path, fail_t *err)
{
    json_auto_t *text = value_utf8(path, strlen(path)); /* a regex sees characters */
    const char *shown = json_string_value(text);
    int fits = self->n_include > 0 ? any_fits(self->include, self->n_include, shown, err) : 1;

    if (fits != 1)
        return fits;
    fits = any_fits(self->exclude, self->n_exclude, shown, err);
    return fits < 0 ? fits : !fits;
}
