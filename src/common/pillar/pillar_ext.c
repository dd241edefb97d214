/* pillar_ext.c - external sources in the order of ext_pillar, each merged over the pillar so far.
 *
 * A source is a row of `sources`, or a user's file in Python, which precedes the row of its name. Failures of
 * one source become errors of the pillar, and the others go on, as in Salt; only a failed merge ends the
 * compile. */
#include "common/pillar/pillar_int.h"

#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/python/userfile.h"
#include "salt/log.h"

static const struct {
    const char *name;
    ext_fn *fn;
} sources[] = {
    { "cmd_yaml", ext_cmd_yaml }, { "cmd_yamlex", ext_cmd_yamlex },
    { "cmd_json", ext_cmd_json }, { "file_tree", ext_file_tree },
    { "git", ext_git },           { "stack", ext_stack },
    { "vault", ext_vault },
};

/* Merges one entry of the list. Of several sources in an entry only the last one's data counts, as in Salt.
 */
static int
pillar_ext_entry(compile_t *self, const json_t *entry, py_t **pillar_p, fail_t *err)
{
    AUTO(py) said = NULL;
    const char *name;
    json_t *args;

    json_object_foreach ((json_t *) entry, name, args) {
        if (said == NULL && value_lists(value_get(self->opts, "exclude_ext_pillar"), name))
            return 0;
        py_unref(said);

        /* Calls a source. */
        py_t *pillar = *pillar_p;
        fail_auto_t why = FAIL_INIT;
        ext_fn *fn = NULL;

        for (size_t i = 0; i < NELEMS(sources) && !userfile_is_named(self->ctx, "pillar", name); i++)
            if (strcmp(sources[i].name, name) == 0)
                fn = sources[i].fn;
        said = fn != NULL ? fn(self, pillar, args, &why) : ext_python(self, name, pillar, args, &why);
        if (said == NULL && fn == NULL && why.kind == FAIL_UNAVAILABLE) {
            const char *reason = fail_text(&why);
            log_critical("Specified ext_pillar interface %s is unavailable%s%s", name,
                         *reason != '\0' ? ": " : "", reason);
        } else if (said == NULL) {
            compile_error(self, "Failed to load ext_pillar %s: %s", name, fail_text(&why));
        } else if (!py_is(said, PY_DICT) && py_truth(said) == 1) {
            compile_error(self, "Failed to load ext_pillar %s: it gave no mapping but %s", name,
                          py_type_name(said));
            py_destroy(&said);
        }
    }
    return said != NULL && py_truth(said) == 1 ? compile_merge(self, pillar_p, said, err) : 0;
}

/* An entry that is not a mapping empties the pillar and ends the list, as in Salt. */
int
ext_run(compile_t *self, const json_t *list, py_t **pillar_p, fail_t *err)
{
    json_t *entry;
    size_t i;

    json_array_foreach (list, i, entry) {
        if (!json_is_object(entry)) {
            compile_error(self, "The \"ext_pillar\" option is malformed");
            py_unref(*pillar_p);
            *pillar_p = py_dict();
            return 0;
        }
        if (pillar_ext_entry(self, entry, pillar_p, err) < 0)
            return -EINVAL;
    }
    return 0;
}
