/* fuzz_crontab.c - any text as a user's crontab: after it is parsed and written, cron acts on the same lines.
 * Comments are read as Salt reads them, which may lose one that looks like Salt's own marker, so they are
 * left out of the comparison.
 */
#include "plugins/lib/system/crontab.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 16 * 1024 };

static void
drop_comments(json_t *entries)
{
    json_t *entry;
    size_t i;

    json_array_foreach (entries, i, entry) {
        salt_assert(crontab_is(entry, value_str(entry, "cmd", NULL), value_str(entry, "identifier", NULL)));
        json_object_del(entry, "comment");
        json_object_del(entry, "identifier");
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const lists[] = { "pre", "crons", "special" };

    if (size > INPUT_MAX)
        return 0;
    AUTO_FREE char *text = xstrndup((const char *) data, size);
    json_auto_t *tab = crontab_parse(text);
    AUTO_FREE char *written = crontab_text(tab);
    json_auto_t *again = crontab_parse(written);
    for (size_t i = 0; i < NELEMS(lists); i++) {
        json_t *first = value_get(tab, lists[i]), *second = value_get(again, lists[i]);
        if (i > 0)
            drop_comments(first), drop_comments(second);
        salt_assert(json_equal(first, second));
    }
    for (size_t i = 0; i < CRONTAB_TIMES; i++) {
        AUTO_FREE char *time = crontab_time(crontab_times[i], text, "*");
        salt_assert(time != NULL);
    }
    return 0;
}
