/* dbabsent.c - see dbabsent.h. */
#include "plugins/lib/database/dbabsent.h"

int
dbabsent_run(dbstate_t *self, const dbabsent_t *texts, const json_t *more)
{
    const char *name = value_str(self->args, "name", "");

    json_auto_t *call = more != NULL ? json_copy((json_t *) more) : json_object();

    json_object_set_new(call, "name", json_string(name));
    int there = dbstate_ask_with(self, texts->exists, call);
    if (there < 0)
        return there;
    if (there == 0)
        return state_ret_set(self->ret, STATE_TRUE, "%s %s %s", texts->what, name, texts->missing);
    if (!ctx_test(self->ctx)) {
        if (texts->key != NULL) {
            json_object_del(call, "name");
            json_object_set_new(call, texts->key, json_string(name));
        }
        int done = dbstate_ask_with(self, texts->remove, call);
        if (done < 0)
            return done;
        if (done == 0)
            return state_ret_set(self->ret, STATE_FALSE, "%s %s %s", texts->what, name, texts->stays);
    }
    state_change(self->ret, name, json_string("Absent"));
    return state_ret_set(self->ret, ctx_test(self->ctx) ? STATE_NONE : STATE_TRUE, "%s %s %s", texts->what,
                         name, ctx_test(self->ctx) ? texts->set : texts->gone);
}
