/* optrow.c - see optrow.h. */
#include "common/cli/optrow.h"

#include "common/base/str.h"

const char *
optrow_next_name(const char **pos, size_t *ret_len)
{
    const char *name = *pos;

    if (*name == '\0')
        return NULL;
    *ret_len = strcspn(name, " ");
    *pos = name + *ret_len + (name[*ret_len] == ' ' ? 1 : 0);
    return name;
}

bool
optrow_takes_value(const opt_row_t *row)
{
    static const bool takes[] = { [OPT_STR] = true,  [OPT_INT] = true,  [OPT_FLOAT] = true,
                                  [OPT_BOOL] = true, [OPT_LIST] = true, [OPT_GROUP] = false };

    return takes[row->kind];
}

const char *
optrow_first_name(const opt_row_t *row, size_t *ret_len)
{
    const char *pos = row->names, *name;
    size_t len;

    while ((name = optrow_next_name(&pos, &len)) != NULL) {
        if (optrow_is_long(name)) {
            *ret_len = len;
            return name;
        }
    }
    *ret_len = strcspn(row->names, " ");
    return row->names;
}

char *
optrow_key(const opt_row_t *row)
{
    size_t len;

    if (row->dest != NULL)
        return xstrdup(row->dest);
    const char *name = optrow_first_name(row, &len);
    size_t dashes = strspn(name, "-");
    char *key = xstrndup(name + dashes, len - dashes);
    for (char *p = key; *p != '\0'; p++)
        *p = *p == '-' ? '_' : *p;
    return key;
}

const opt_row_t *
optrow_next(const opt_spec_t *spec, size_t *table, size_t *row)
{
    while (spec->tables[*table] != NULL) {
        const opt_row_t *found = &spec->tables[*table][*row];
        if (found->names == NULL) {
            ++*table;
            *row = 0;
            continue;
        }
        ++*row;
        if (found->kind != OPT_GROUP)
            return found;
    }
    return NULL;
}
