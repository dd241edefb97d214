/* ext_python.c - external pillars in Python: ext_pillar(minion_id, pillar, ...) of users' files, and of
 * Salt's own where its package is installed.
 *
 * The file runs in the compile's interpreter, for as long as pillar_timeout leaves. What it returns is data:
 * it is merged, and never rendered. Where the minion's words may be in it, they count as that minion's. */
#include "common/pillar/pillar_int.h"

#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/python/userfile.h"

py_t *
ext_python(compile_t *self, const char *name, py_t *pillar, const json_t *args, fail_t *err)
{
    const userfile_t what = { .kind = "pillar", .module = name, .fun = "ext_pillar", .log_fails = true };
    const py_limits_t limits = { .deadline_ms = self->deadline_ms };
    /* The minion's id, the pillar so far, and the value of the source's key as Python's callers spread it: a
     * list is positional arguments, and a mapping is keywords. */
    AUTO(py) kwargs = json_is_object(args) ? py_from_json(args) : py_dict();
    AUTO(py) list = py_list();
    py_scope_t scope;
    bool grains = false;
    json_t *one;
    size_t i;

    py_append_new(list, py_str(self->env->id, strlen(self->env->id)));
    py_append_new(list, py_ref(pillar));
    if (!json_is_object(args) && !json_is_array(args))
        py_append_new(list, py_from_json(args));
    json_array_foreach (args, i, one)
        py_append_new(list, py_from_json(one));

    reads_mark_world(self->env->reads);
    py_scope_enter(&scope, &limits);
    py_t *said = userfile_call(self->ctx, &what, list, kwargs, &grains, err);
    py_scope_leave(&scope);
    /* The file may have read what the minion said: its grains, what it lays over its pillar, or what earlier
     * sources took of either. */
    bool laid = self->env->peer_override && self->env->override != NULL;
    bool heard = laid || (self->env->peer_grains && grains) || py_holds_peer(pillar);
    return said != NULL && heard ? py_peer(said, SPAN_OWN) : said;
}
