/* ps.c - beacon ps: processes that run, or do not. It looks in a child: the command line of a process that is
 * stuck can't be read. */
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/host/procfs.h"
#include "salt/plugin.h"

static char *
ps_validate(const json_t *list, const json_t *config)
{
    json_t *processes = value_get(config, "processes");
    if (processes == NULL)
        return xstrdup("Configuration for ps beacon requires processes.");
    if (!json_is_object(processes))
        return xstrdup("Processes for ps beacon must be a dictionary.");
    return NULL;
}

static int
ps_look(beacon_look_t *look, fail_t *err)
{
    size_t n;
    const char *name;
    json_t *wanted;
    pid_t *pids = procfs_pids(&n, err);
    if (pids == NULL)
        return err->code;
    map_t *names = map_new(NULL);
    for (size_t i = 0; i < n; i++) {
        char process[PROCFS_NAME];
        fail_auto_t why = FAIL_INIT; /* a process that ended meanwhile is not there */
        if (procfs_name(pids[i], process, &why) == 1)
            map_set(names, process, look);
    }
    free(pids);

    json_object_foreach (value_get(look->config, "processes"), name, wanted) {
        bool there = map_get(names, name) != NULL;
        const char *word = json_is_string(wanted) ? json_string_value(wanted) : "";
        json_t *said = NULL;
        if (str_eq(word, "running"))
            said = there ? json_string("Running") : NULL;
        else if (str_eq(word, "stopped"))
            said = there ? NULL : json_string("Stopped");
        else if (!there)
            said = json_false();
        if (said != NULL)
            json_array_append_new(look->events, json_pack("{s:o}", name, said));
    }
    map_destroy(&names);
    return 0;
}

static const beacon_row_t row = { .validate = ps_validate, .look = ps_look, .every_s = 10, .calls = true };

PLUGIN(beacon, ps, .doc = "Processes: fires for each that is as configured, running or stopped.",
       .beacon = &row);
