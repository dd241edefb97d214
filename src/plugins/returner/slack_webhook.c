/* slack_webhook.c - returner `slack_webhook`: a message for each return, by an incoming webhook of Slack. The
 * return of a state run is counted: unchanged, changed and failed states. */
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_yaml.h"
#include "plugins/lib/returner/httpreturn.h"

#define SLACK_URL "https://hooks.slack.com/services/"

static const retopt_t options[] = {
    { "webhook", NULL, NULL },
    { "success_title", NULL, "\"{id} | Succeeded\"" },
    { "failure_title", NULL, "\"{id} | Failed\"" },
    { "author_icon", NULL, "\"\"" },
    { "show_tasks", NULL, "false" },
};

/* "{id}" and the like replaced by grains, as Salt's returner does it. NEW. */
static char *
slack_sprinkle(call_ctx_t *ctx, const char *text)
{
    char **parts = str_split(text, "{}", false);
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; parts[i] != NULL; i++) {
        json_t *grain = i % 2 == 1 ? value_get(ctx_grains(ctx), parts[i]) : NULL;
        AUTO_FREE char *value = grain != NULL ? value_pystr(grain) : xstrdup("");
        buf_puts(&out, i % 2 == 1 ? value : parts[i]);
    }
    strv_free(parts);
    return out.len > 0 ? buf_steal(&out) : xstrdup("");
}

/* ---- state runs ---------------------------------------------------------------------------------------- */

/* Counts of a state run. `seconds` sums the durations, which are milliseconds in a return. */
typedef struct slack_states {
    size_t total, unchanged, changed, failed;
    double seconds;
    json_t *changed_tasks, *failed_tasks; /* owned: fields of attachments */
} slack_states_t;

/* A state run's return is a dict whose values have the ID of a state. */
static bool
is_state_run(const json_t *ret)
{
    void *first = json_object_iter((json_t *) ret);

    return first != NULL && value_get(json_object_iter_value(first), "__id__") != NULL;
}

/* A field of an attachment: "FILE.sls | ID" of a state, by its key "STATE_|-ID_|-NAME_|-FUN". */
static json_t *
slack_field(const char *state, const json_t *data)
{
    json_t *sls = value_get(data, "__sls__");
    AUTO_FREE char *file = sls != NULL ? value_pystr(sls) : xstrdup("None");
    const char *id = strstr(state, "_|-"), *from = id != NULL ? id + 3 : state, *end = strstr(from, "_|-");

    return json_pack(
        "{s:o, s:b}", "value",
        value_fmt("%s.sls | %.*s", file, (int) (end != NULL ? end - from : (ptrdiff_t) strlen(from)), from),
        "short", false);
}

static void
slack_count(slack_states_t *self, const char *state, const json_t *data)
{
    json_t *result = value_get(data, "result"), *duration = value_get(data, "duration");
    bool failed = result != NULL && !value_truthy(result), changed = value_truthy(value_get(data, "changes"));

    /* A state may have failed and have changed something: it counts in both. */
    self->total++;
    self->unchanged += !failed && !changed;
    if (failed) {
        self->failed++;
        json_array_append_new(self->failed_tasks, slack_field(state, data));
    }
    if (changed) {
        self->changed++;
        json_array_append_new(self->changed_tasks, slack_field(state, data));
    }
    if (json_is_number(duration))
        self->seconds += json_number_value(duration) / 1000;
    else if (json_is_string(duration))
        self->seconds += strtod(json_string_value(duration), NULL) / 1000;
}

typedef struct ran {
    const char *state;
    const json_t *data;
    json_int_t num;
} ran_t;

static int
slack_by_num(const void *a, const void *b)
{
    const ran_t *x = a, *y = b;

    return (x->num > y->num) - (x->num < y->num);
}

/* By the order in which the states ran. */
static slack_states_t
slack_states_of(const json_t *ret)
{
    slack_states_t self = { .changed_tasks = json_array(), .failed_tasks = json_array() };
    AUTO_FREE ran_t *all = xcalloc(json_object_size(ret) + 1, sizeof(*all));
    size_t n = 0;
    const char *state;
    json_t *data;

    json_object_foreach ((json_t *) ret, state, data)
        all[n++] = (ran_t){ state, data, value_int(data, "__run_num__", 0) };
    qsort(all, n, sizeof(*all), slack_by_num);
    for (size_t i = 0; i < n; i++)
        slack_count(&self, all[i].state, all[i].data);
    return self;
}

/* An attachment with a colour of Slack's and a count; `tasks` is BORROWED. */
static json_t *
slack_counted(const char *colour, const char *title, size_t n, json_t *tasks, bool show)
{
    json_t *attachment = json_pack("{s:s, s:o}", "color", colour, "title", value_fmt("%s: %zu", title, n));

    if (show && json_array_size(tasks) > 0)
        json_object_set(attachment, "fields", tasks);
    return attachment;
}

/* ---- the message --------------------------------------------------------------------------------------- */

/* What a return that is no state run shows: a mapping as YAML. NEW. */
static char *
slack_return(const json_t *ret)
{
    if (!json_is_object(ret))
        return ret != NULL ? value_pystr(ret) : xstrdup("None");
    AUTO(py) value = py_from_json(ret);
    AUTO(py) text = py_yaml_dump(value, PY_YAML_AUTO, NULL);
    if (text == NULL) {
        py_clear();
        return value_pystr(ret);
    }
    size_t len;
    const char *bytes = py_text(text, &len);
    return xasprintf("\n%.*s", (int) len, bytes);
}

/* ['a', '1']: arguments as texts. NEW. */
static char *
slack_arguments(const json_t *args)
{
    json_auto_t *texts = json_array();
    json_t *one;
    size_t i;

    json_array_foreach ((json_t *) args, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_array_append_new(texts, json_string(text));
    }
    return value_pystr(texts);
}

/* Text of the first attachment: function, arguments and job, and for a state run how many states took how
 * long. NEW. */
static char *
slack_text(const json_t *ret, const slack_states_t *states)
{
    const json_t *args = value_get(ret, "fun_args");
    json_t *fun = value_get(ret, "fun");
    AUTO_FREE char *name = fun != NULL ? value_pystr(fun) : xstrdup("None"), *shown = slack_arguments(args);
    buf_auto_t text = BUF_INIT;

    buf_printf(&text, "Function: %s\n", name);
    if (json_array_size(args) > 0)
        buf_printf(&text, "Function Args: %s\n", shown);
    buf_printf(&text, "JID: %s\n", value_str(ret, "jid", "None"));
    if (states != NULL)
        buf_printf(&text, "Total: %zu\nDuration: %.2f secs", states->total, states->seconds);
    return buf_steal(&text);
}

/* The message: one attachment about the job, and one for the return, or three for a state run. NEW. */
static json_t *
slack_attachments(call_ctx_t *ctx, const json_t *opts, const json_t *ret, const char *author)
{
    bool success = value_int(ret, "retcode", 1) == 0, run = is_state_run(value_get(ret, "return")),
         show = value_bool(opts, "show_tasks", false);
    slack_states_t states = run ? slack_states_of(value_get(ret, "return")) : (slack_states_t){ 0 };
    AUTO_FREE char *title = slack_sprinkle(ctx,
                                           value_str(opts, success ? "success_title" : "failure_title", "")),
                   *link = slack_sprinkle(ctx, "{localhost}"), *text = slack_text(ret, run ? &states : NULL),
                   *shown = slack_return(value_get(ret, "return"));
    json_t *all = json_pack("[{s:s, s:s, s:s, s:s, s:O, s:s, s:s}]", "fallback", title, "color", "#272727",
                            "author_name", author, "author_link", link, "author_icon",
                            value_get(opts, "author_icon"), "title",
                            success ? "Success: True" : "Success: False", "text", text);

    if (!run) {
        json_array_append_new(all, json_pack("{s:s, s:o}", "color", success ? "good" : "danger", "title",
                                             value_fmt("Return: %s", shown)));
        return all;
    }
    json_array_append_new(all, slack_counted("good", "Unchanged", states.unchanged, NULL, false));
    json_array_append_new(all,
                          slack_counted("warning", "Changed", states.changed, states.changed_tasks, show));
    json_array_append_new(all, slack_counted("danger", "Failed", states.failed, states.failed_tasks, show));
    json_decref(states.changed_tasks);
    json_decref(states.failed_tasks);
    return all;
}

/* Fills the request. Slack answers "ok" to what it took. */
static int
slack_post(call_ctx_t *ctx, const json_t *opts, const json_t *ret, const char *author, httppost_t *post,
           fail_t *err)
{
    const char *hook = value_str(opts, "webhook", "");

    if (*hook == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "slack_webhook.webhook not defined in salt config");
    json_auto_t *payload = json_pack("{s:o}", "attachments", slack_attachments(ctx, opts, ret, author));
    post->url = httpreturn_join(SLACK_URL, hook);
    post->answer = "ok";
    httpreturn_form(payload, post);
    return 0;
}

static int
slack_ret(call_ctx_t *ctx, const json_t *opts, const json_t *ret, httppost_t *post, fail_t *err)
{
    AUTO_FREE char *author = slack_sprinkle(ctx, "{id}");

    return slack_post(ctx, opts, ret, author, post, err);
}

/* Of events only those that are returns have what a message shows. */
static int
slack_event(call_ctx_t *ctx, const json_t *opts, const json_t *event, httppost_t *post, fail_t *err)
{
    const json_t *data = value_get(event, "data");
    const char *id = value_str(data, "id", NULL);

    if (id == NULL || value_get(data, "fun") == NULL || value_get(data, "return") == NULL)
        return 1;
    return slack_post(ctx, opts, data, id, post, err);
}

static const httpshape_t slack_shape = { "slack_webhook", options, NELEMS(options), slack_ret, slack_event };

static const func_t funcs[] = { RET_ROW_RETURNER(http_returner, .data.ptr = &slack_shape),
                                RET_ROW_EVENTS(http_event_return, .data.ptr = &slack_shape) };

PLUGIN(returner, slack_webhook, .doc = "Send returns to a channel of Slack by a webhook", FUNCS(funcs));
