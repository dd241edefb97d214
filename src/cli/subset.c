/* subset.c - --subset: some of the targets, chosen at random among those that have the function.
 *
 * Asking every minion for its list of functions would be the larger job of the two, so only as many are asked
 * as are still needed; those that do not answer are passed over. */
#include "cli/cmd.h"

#include <sys/random.h>

#include "cli/request.h"
#include "common/base/str.h"
#include "salt/value.h"

typedef struct choice {
    const json_t *fun; /* BORROWED: text, or an array of texts */
    json_t *ids;       /* array: chosen so far */
} choice_t;

/* True when the minion has every function of the job. */
static bool
has_all(const json_t *list, const json_t *fun)
{
    size_t i;
    json_t *one;

    if (json_is_string(fun))
        return value_lists(list, json_string_value(fun));
    json_array_foreach (fun, i, one)
        if (!value_lists(list, json_string_value(one)))
            return false;
    return true;
}

static void
choice_return(cmd_t *self, const char *id, json_t *push, void *state)
{
    choice_t *choice = state;

    if (has_all(value_get(push, "return"), choice->fun))
        json_array_append_new(choice->ids, json_string(id));
}

static void
choice_silent(cmd_t *self, const char *id, outcome_t outcome, const char *text, void *state)
{
}

static size_t
random_below(size_t n)
{
    uint64_t r = 0;

    (void) !getrandom(&r, sizeof(r), 0);
    return (size_t) (r % n);
}

int
subset_choose(cmd_t *self, size_t want)
{
    json_t *request = json_copy(self->request);
    json_auto_t *reply = NULL, *chosen = json_array();
    choice_t choice = { value_get(self->request, "fun"), chosen };
    int rc = cmd_call(self, "match", &request, &reply);
    json_t *ids = value_get(reply, "minions");
    size_t at = 0;

    /* Fisher-Yates; the modulo's bias is irrelevant here. */
    for (size_t i = json_array_size(ids); i > 1; i--) {
        size_t j = random_below(i);
        json_auto_t *a = json_incref(json_array_get(ids, i - 1)), *b = json_incref(json_array_get(ids, j));
        json_array_set(ids, i - 1, b);
        json_array_set(ids, j, a);
    }

    while (rc == 0 && json_array_size(chosen) < want && at < json_array_size(ids)) {
        /* Ask the next `n` ids, from *at on, and add those that have the function. */
        size_t n = want - json_array_size(chosen);
        static const cmd_sink_t sink = { choice_return, choice_silent, false };
        json_t *some = json_array();
        for (; n > 0 && at < json_array_size(ids); n--)
            json_array_append(some, json_array_get(ids, at++));
        json_t *question = json_pack("{s:o, s:s, s:s, s:[]}", "tgt", some, "tgt_type", "list", "fun",
                                     "sys.list_functions", "arg");
        rc = cmd_follow(self, &question, &sink, &choice);
    }
    if (rc != 0)
        return rc;
    if (json_array_size(chosen) == 0)
        return cmd_no_match(self);
    json_t *narrowed = request_for(self->request, chosen);
    json_decref(self->request);
    self->request = narrowed;
    return 0;
}
