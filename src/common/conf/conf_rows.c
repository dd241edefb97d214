/* conf_rows.c - the option table (generated from include/salt/options.def) and its look-up by name: a hash
 * index, made once. A name can have a row per side. */
#include <pthread.h>

#include "common/base/str.h"
#include "common/conf/conf_int.h"

#define MASTER     CONF_MASTER
#define MINION     CONF_MINION
#define BOTH       CONF_BOTH
#define LIVE       CONF_LIVE
#define RESTART    CONF_RESTART
#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define OPTION_ROW(name_, type_, side_, dflt_, live_, help_, ...)                                            \
    { .name = #name_,                                                                                        \
      .type = CONF_##type_,                                                                                  \
      .side = side_,                                                                                         \
      .live = live_,                                                                                         \
      .dflt = dflt_,                                                                                         \
      .help = help_,                                                                                         \
      __VA_ARGS__ },
static const option_row_t rows[] = {
#include "salt/options.def"
};

/* Places of `rows` plus one, by a hash of the name; 0: empty. At most half of it is full. */
static uint16_t by_name[2048];
_Static_assert(2 * NELEMS(rows) <= NELEMS(by_name), "the index of options is too small");

/* The place where the search for a name begins: FNV-1a. The names are the table's own, nobody aims at a place. */
static size_t
hash_of_name(const char *name)
{
    uint32_t hash = 2166136261U;

    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char) *c) * 16777619U;
    return hash % NELEMS(by_name);
}

static void
index_rows(void)
{
    for (size_t i = 0; i < NELEMS(rows); i++) {
        size_t at = hash_of_name(rows[i].name);
        while (by_name[at] != 0)
            at = (at + 1) % NELEMS(by_name);
        by_name[at] = (uint16_t) (i + 1);
    }
}

const option_row_t *
conf_rows(size_t *ret_n)
{
    *ret_n = NELEMS(rows);
    return rows;
}

/* The row of an option on one side, or on either (CONF_BOTH). BORROWED; NULL: unknown. */
const option_row_t *
conf_row(const char *name, conf_side_t side)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, index_rows);
    for (size_t at = hash_of_name(name); by_name[at] != 0; at = (at + 1) % NELEMS(by_name)) {
        const option_row_t *row = &rows[by_name[at] - 1];
        if ((row->side & side) != 0 && str_eq(row->name, name))
            return row;
    }
    return NULL;
}

/* Defaults are JSON in the table; each start of a program makes all of them, so those of most rows are made
 * without a parser. NEW; NULL for an option that stays absent. */
json_t *
conf_default(const option_row_t *row)
{
    const char *text = row->dflt;
    size_t len = strlen(text), digits = strspn(text, "0123456789");

    if (len == 0)
        return NULL;
    if (*text == '"' && strchr(text, '\\') == NULL)
        return json_stringn(text + 1, len - 2);
    if (digits == len && len < 10)
        return json_integer(strtol(text, NULL, 10));
    if (str_eq(text, "true") || str_eq(text, "false"))
        return json_boolean(*text == 't');
    if (str_eq(text, "{}") || str_eq(text, "[]"))
        return *text == '{' ? json_object() : json_array();
    json_t *v = json_loadb(text, len, JSON_DECODE_ANY, NULL);
    salt_assert(v != NULL);
    return v;
}
