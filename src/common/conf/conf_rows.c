/* conf_rows.c - the option table (generated from include/salt/options.def) and its look-up by name: an index
 * of positions, sorted once, searched by bisection. A name can have a row per side. */
#include <pthread.h>

#include "common/base/str.h"
#include "common/conf/conf_int.h"

#define MASTER     CONF_MASTER
#define MINION     CONF_MINION
#define BOTH       CONF_BOTH
#define LIVE       CONF_LIVE
#define RESTART    CONF_RESTART
#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define OPTION_ROW(name, type, side, dflt, live, help, ...)                                                  \
    { #name, CONF_##type, side, dflt, live, help, __VA_ARGS__ },
static const option_row_t rows[] = {
#include "salt/options.def"
};

static uint16_t by_name[NELEMS(rows)]; /* positions in `rows`, sorted by name */

static int
conf_rows_compare(const void *a, const void *b)
{
    return strcmp(rows[*(const uint16_t *) a].name, rows[*(const uint16_t *) b].name);
}

static void
sort_rows(void)
{
    for (size_t i = 0; i < NELEMS(rows); i++)
        by_name[i] = (uint16_t) i;
    qsort(by_name, NELEMS(by_name), sizeof(by_name[0]), conf_rows_compare);
}

const option_row_t *
conf_rows(size_t *ret_n)
{
    *ret_n = NELEMS(rows);
    return rows;
}

/* First position in `by_name` whose row is not before `name`. */
static size_t
lower_bound(const char *name)
{
    size_t low = 0, high = NELEMS(by_name);

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(rows[by_name[mid]].name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The row of an option on one side, or on either (CONF_BOTH). BORROWED; NULL: unknown. */
const option_row_t *
conf_row(const char *name, conf_side_t side)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, sort_rows);
    for (size_t i = lower_bound(name); i < NELEMS(by_name); i++) {
        const option_row_t *row = &rows[by_name[i]];
        if (!str_eq(row->name, name))
            break;
        if ((row->side & side) != 0)
            return row;
    }
    return NULL;
}

/* Defaults are JSON in the table. NEW; NULL for an option that stays absent. */
json_t *
conf_default(const option_row_t *row)
{
    const char *text = row->dflt;
    size_t len = strlen(text);

    if (len == 0)
        return NULL;
    if (*text == '"' && strchr(text, '\\') == NULL)
        return json_stringn(text + 1, len - 2); /* the common case, without a parser */
    json_t *v = json_loadb(text, len, JSON_DECODE_ANY, NULL);
    salt_assert(v != NULL);
    return v;
}
