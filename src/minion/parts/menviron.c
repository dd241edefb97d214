/* menviron.c - environ.setenv with update_minion: changes this process's environment, which later jobs
 * inherit.
 */
#include "minion/jobs/jobserver.h"

#include <unistd.h>

#include "common/base/str.h"
#include "salt/value.h"

static void
menviron_clear(const char *name, bool unset)
{
    (void) (unset ? unsetenv(name) : setenv(name, "", 1));
}

/* {environ: {NAME: text or false}, false_unsets, clear_all}, as environ.setenv. Names are collected before
 * any is removed, as unsetenv() changes the array that is walked. */
static void
menviron_setenv(void *part, json_t *data)
{
    json_t *wanted = value_get(data, "environ"), *v;
    bool unset = value_bool(data, "false_unsets", false);
    const char *name;
    json_auto_t *others = json_object();
    for (char **e = environ; value_bool(data, "clear_all", false) && *e; e++) {
        AUTO_FREE char *key = xstrndup(*e, strcspn(*e, "="));
        if (value_get(wanted, key) == NULL)
            json_object_set_new(others, key, json_true());
    }
    json_object_foreach (others, name, v)
        menviron_clear(name, unset);
    json_object_foreach (wanted, name, v) {
        if (json_is_string(v))
            (void) setenv(name, json_string_value(v), 1);
        else if (json_is_false(v))
            menviron_clear(name, unset);
    }
}

static const part_event_t events[] = { { "environ_setenv", menviron_setenv }, { 0 } };

const minion_part_t minion_part_environ = { .name = "environ", .events = events };
