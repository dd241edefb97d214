/* tables.c - every built-in plug-in's descriptor is complete: the tables of both daemons through
 * registry_check, and no grain that two producers claim. Prints what is wrong; exit 1 if anything is. With the argument
 * "states" or "modules" it prints the names of all functions of that kind instead. */
#include "common/base/map.h"
#include "common/plugin/registry.h"
#include "plugins/builtin.h"

static int
check_table(plugin_kind_t kind, const plugin_t *const *rows, size_t n)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(registry) registry = registry_new(kind, rows, n);

    if (registry_check(registry, &err) == 0)
        return 0;
    printf("%s\n", fail_text(&err));
    return 1;
}

static int
check_grains(const plugin_t *const *rows, size_t n)
{
    AUTO(map) owner = map_new(NULL);
    int bad = 0;

    for (size_t i = 0; i < n; i++) {
        if (!rows[i]->collect || !rows[i]->keys || !rows[i]->doc) {
            printf("grain %s: collect, keys and doc belong to its descriptor\n", rows[i]->file);
            bad = 1;
        }
        for (const char *const *key = rows[i]->keys; key && *key; key++) {
            const char *other = map_get(owner, *key);
            if (other) {
                printf("grain %s: made by %s and by %s\n", *key, other, rows[i]->file);
                bad = 1;
            }
            map_set(owner, *key, (void *) (uintptr_t) rows[i]->file);
        }
    }
    return bad;
}

static int
print_functions(plugin_kind_t kind)
{
    size_t n;
    const plugin_t *const *rows = builtin_plugins(kind, &n);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < rows[i]->n_funcs; k++)
            printf("%s.%s\n", rows[i]->provides != NULL ? rows[i]->provides : rows[i]->file,
                   rows[i]->funcs[k].name);
    return 0;
}

int
main(int argc, char **argv)
{
    size_t n;
    int bad = 0;

    if (argc > 1)
        return print_functions(strcmp(argv[1], "modules") == 0 ? PLUGIN_EXEC : PLUGIN_STATE);
    const plugin_t *const *rows = builtin_plugins(PLUGIN_EXEC, &n);

    bad |= check_table(PLUGIN_EXEC, rows, n);
    rows = builtin_plugins(PLUGIN_STATE, &n);
    bad |= check_table(PLUGIN_STATE, rows, n);
    rows = builtin_plugins(PLUGIN_RUNNER, &n);
    bad |= check_table(PLUGIN_RUNNER, rows, n);
    rows = builtin_plugins(PLUGIN_RETURNER, &n);
    bad |= check_table(PLUGIN_RETURNER, rows, n);
    rows = builtin_plugins(PLUGIN_ENGINE, &n);
    bad |= check_table(PLUGIN_ENGINE, rows, n);
    rows = builtin_plugins(PLUGIN_WHEEL, &n);
    bad |= check_table(PLUGIN_WHEEL, rows, n);
    rows = builtin_plugins(PLUGIN_GRAIN, &n);
    bad |= check_grains(rows, n);
    return bad;
}
