/* doc.c - sys.doc: one text per function, whichever minions know it. */
#include "cli/cmd.h"

#include "common/base/str.h"
#include "salt/value.h"

typedef struct docs {
    json_t *by_fun;  /* object: the first text of each function */
    json_t *silent;  /* object: id to why it did not return */
    char *absent;    /* owned: what a minion says about a name that it does not know; NULL: none said so */
    bool any_return; /* a minion answered with documentation */
} docs_t;

static void
doc_return(cmd_t *self, const char *id, json_t *push, void *state)
{
    docs_t *docs = state;
    json_t *data = value_get(push, "return"), *text;
    const char *fun;

    if (!json_is_object(data)) {
        json_auto_t *one = json_object();
        json_object_set(one, id, data);
        show_data(&self->show, one, cmd_outputter(self, push), cmd_retcode(push));
        self->failed = true;
        return;
    }
    docs->any_return = true;
    if (docs->absent == NULL && value_get(push, "absent") != NULL)
        docs->absent = xstrdup(value_str(push, "absent", ""));
    json_object_foreach (data, fun, text)
        if (value_truthy(text) && value_get(docs->by_fun, fun) == NULL)
            json_object_set(docs->by_fun, fun, text);
}

static void
doc_silent(cmd_t *self, const char *id, outcome_t outcome, const char *text, void *state)
{
    json_object_set_new(((docs_t *) state)->silent, id, json_string(text));
}

/* Plain text unless --out asks for an outputter. */
static void
print_doc(cmd_t *self, const char *fun, json_t *text)
{
    if (self->show.output == NULL) {
        show_print(&self->show, "%s:\n%s\n\n", fun, json_is_string(text) ? json_string_value(text) : "");
        return;
    }
    json_auto_t *one = json_object();
    json_object_set(one, fun, text);
    show_data(&self->show, one, "nested", 0);
}

int
doc_run(cmd_t *self)
{
    static const cmd_sink_t sink = { doc_return, doc_silent, false };
    json_auto_t *by_fun = json_object(), *silent = json_object();
    docs_t docs = { .by_fun = by_fun, .silent = silent };
    int rc = cmd_follow(self, &self->request, &sink, &docs);

    AUTO_FREE char *absent = docs.absent;
    if (rc != 0)
        return rc;

    AUTO_FREE const char **names = xcalloc(json_object_size(by_fun) + 1, sizeof(*names));
    size_t n = 0;
    json_t *text;
    const char *fun;

    json_object_foreach (by_fun, fun, text)
        names[n++] = fun;
    qsort(names, n, sizeof(*names), str_by_text);
    for (size_t i = 0; i < n; i++)
        print_doc(self, names[i], value_get(by_fun, names[i]));

    /* No minion knows the name. */
    if (n == 0 && absent != NULL) {
        show_error(&self->show, "%s\n", absent);
        return EXIT_FAILURE;
    }

    /* Any minion's text will do; that others are away matters only when there is none. */
    if (!docs.any_return && json_object_size(silent) > 0) {
        show_data(&self->show, silent, "no_return", EXIT_FAILURE);
        self->failed = true;
    }
    return cmd_finish(self);
}
