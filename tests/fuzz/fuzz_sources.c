/* fuzz_sources.c - apt's one-line sources, *.sources, dpkg's paragraphs and versions over arbitrary bytes.
 *
 * Checked: a file in which nothing changed is written byte by byte as it was read; an entry that is written
 * anew is read back the same; a file whose entries were all removed has none; comparing versions is
 * antisymmetric.
 */
#include "common/base/str.h"
#include "plugins/lib/apt/aptsources.h"
#include "plugins/lib/apt/deb822.h"
#include "plugins/lib/packages/pkgver.h"
#include "salt/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 64 * 1024 };

/* Fields lie within their paragraph, and there are not more than the limit. */
static void
check_paragraphs(const char *text, size_t len)
{
    deb822_auto_t para = DEB822_INIT;
    const char *at = text, *end = text + len;

    while (deb822_next(&para, &at, end)) {
        salt_assert(para.start < para.end && para.end <= end && para.n <= LIMIT_DEB822_FIELDS);
        for (size_t i = 0; i < para.n; i++) {
            const deb822_field_t *f = &para.fields[i];
            salt_assert(f->name >= para.start && f->value + f->value_len <= para.end && f->name_len > 0);
        }
    }
}

static void
check_line(const char *line)
{
    AUTO(apt_source) first = apt_source_new(line, NULL);
    AUTO_FREE char *written = apt_source_render(first);
    AUTO(apt_source) second = apt_source_new(written, NULL);

    salt_assert(first->invalid == second->invalid);
    salt_assert(first->invalid ||
                (str_eq(first->type, second->type) && str_eq(first->uri, second->uri) &&
                 str_eq(first->dist, second->dist) && first->disabled == second->disabled &&
                 json_equal(first->comps, second->comps) && json_equal(first->archs, second->archs)));
}

/* How many entries a text holds. */
static size_t
entries(const char *file, const char *text)
{
    AUTO(apt_sources) all = apt_sources_new("/nonexistent-root", NULL);

    apt_sources_read(all, file, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
    return apt_sources_count(all);
}

static void
check_file(const char *file, const char *text, size_t len)
{
    AUTO(apt_sources) all = apt_sources_new("/nonexistent-root", NULL);

    apt_sources_read(all, file, text, len);
    AUTO_FREE char *same = apt_sources_text(all, file);
    salt_assert(same == NULL || strcmp(same, text) == 0);
    for (size_t i = 0; i < apt_sources_count(all); i++)
        apt_sources_at(all, i)->changed = true;
    AUTO_FREE char *fresh = apt_sources_text(all, file);
    salt_assert(entries(file, fresh) == apt_sources_count(all));
    while (apt_sources_count(all) > 0)
        apt_sources_remove(all, apt_sources_count(all) - 1);
    AUTO_FREE char *empty = apt_sources_text(all, file);
    salt_assert(entries(file, empty) == 0);
}

static void
check_versions(const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);
    char *second = strchr(copy, '\n');
    int order, reverse;

    if (second == NULL)
        return;
    *second++ = '\0';
    second[strcspn(second, "\n")] = '\0';
    if (pkgver_cmp(copy, second, false, &order, NULL) == 0) {
        salt_assert(pkgver_cmp(second, copy, false, &reverse, NULL) == 0);
        salt_assert(order == -reverse);
    }
    (void) pkgver_wanted(copy, second, true);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_MAX)
        return 0;
    AUTO_FREE char *text = xstrndup((const char *) data, size);
    size_t len = strlen(text);

    check_paragraphs((const char *) data, size);
    check_line(text);
    check_file("/etc/apt/sources.list", text, len);
    check_file("/etc/apt/sources.list.d/a.sources", text, len);
    check_versions(text);
    return 0;
}
