/* overview.c - runner `overview`: what a page shows of the whole fleet, in one answer each. Rows are lists,
 * as ten thousand minions would repeat the names of their columns as often. Minions are not asked. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "master/api.h"
#include "runners/lib/ask.h"
#include "salt/plugin.h"

enum {
    JOBS_MAX = 1000,    /* of overview.jobs */
    RUNS_READ = 400,    /* newest jobs whose returns overview.states may read */
    COLUMNS_MAX = 2000, /* states in one matrix */
    REASON_MAX = 500,   /* bytes of why a minion's states did not compile */
};

/* ---- fleet --------------------------------------------------------------------------------------- */

/* [[id, state, address, release, connected since or gone, ms]], None for what nobody knows. */
static int
overview_fleet(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *fields = json_pack("{s:b}", "keys", true), *minion;
    json_auto_t *reply = ask_master_with(ctx, "minions", &fields, err);
    json_t *minions = value_get(reply, "minions"), *rows = json_array();
    const char *id;

    *ret_value = json_pack("{s:[s,s,s,s,s], s:o}", "columns", "id", "state", "address", "version", "seen",
                           "rows", rows);
    json_auto_t *ids = value_sorted_keys(minions);
    for (size_t i = 0; i < json_array_size(ids); i++) {
        id = json_string_value(json_array_get(ids, i));
        minion = value_get(minions, id);
        json_t *since = value_get(minion, "since");
        const char *key = value_str(minion, "key", "accepted");
        json_array_append_new(rows, json_pack("[s, s, O?, O?, O?]", id,
                                              !str_eq(key, "accepted")                 ? key
                                              : value_bool(minion, "connected", false) ? "up"
                                                                                       : "down",
                                              value_get(minion, "address"), value_get(minion, "halite"),
                                              since != NULL ? since : value_get(minion, "gone")));
    }
    return reply != NULL ? 0 : err->code;
}

/* ---- jobs ---------------------------------------------------------------------------------------- */

/* The newest jobs, newest first, with how many minions have returned and failed. */
static int
overview_jobs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const columns[] = { "jid",      "start_us", "fun",       "arg",        "tgt",
                                           "tgt_type", "user",     "n_minions", "n_returned", "n_failed" };
    json_int_t count = value_int(args, "count", 0);

    if (count < 1 || count > JOBS_MAX)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'count' is a number from 1 to %d", JOBS_MAX);
    json_auto_t *filter = json_pack("{s:I, s:[s]}", "limit", count, "not_function", "saltutil.find_job");
    json_auto_t *jobs = api_jobs(api_of(ctx), filter, err);
    json_auto_t *active = jobs != NULL ? ask_master(ctx, "active", err) : NULL;
    json_t *names = json_array(), *rows = json_array(), *running = json_array(), *job;
    size_t i;

    *ret_value = json_pack("{s:o, s:o, s:o}", "columns", names, "rows", rows, "running", running);
    for (size_t c = 0; c < NELEMS(columns); c++)
        json_array_append_new(names, json_string(columns[c]));
    for (i = json_array_size(jobs); i > 0; i--) {
        json_t *row = json_array();
        for (size_t c = 0; c < NELEMS(columns); c++) {
            json_t *cell = value_get(json_array_get(jobs, i - 1), columns[c]);
            json_array_append_new(row, cell != NULL ? json_incref(cell) : json_null());
        }
        json_array_append_new(rows, row);
    }
    json_array_foreach (value_get(active, "jobs"), i, job)
        if (json_object_size(value_get(job, "running")) > 0)
            json_array_append(running, value_get(job, "jid"));
    return active != NULL ? 0 : err->code;
}

/* A minion's verdict out of its return. */
static bool
overview_note_return(void *cookie, const char *id, const char *text, size_t len)
{
    json_auto_t *ret = value_parse(text, len, LIMIT_LOCAL_MSG, "store", NULL);
    json_int_t retcode = value_int(ret, "retcode", 0);
    bool well = retcode == 0 && value_bool(ret, "success", true);

    json_object_set_new(cookie, id, json_pack("[s, I]", well ? "returned" : "failed", retcode));
    return true;
}

/* {id: [verdict, retcode]} of a job's targets: those of the store, and of the master while it is under way.
 */
static int
overview_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *jid = value_str(args, "jid", ""), *id;
    json_auto_t *row = api_job_row(api_of(ctx), jid, err), *by_id = json_object();
    json_t *minion, *verdict;
    size_t i;

    if (row == NULL)
        return -EIO;
    if (json_is_null(row))
        return fail_kind(err, FAIL_INVOCATION, -ENOENT,
                         "The job store has no job %s; 'salt-run jobs.list_jobs' lists the jobs there are",
                         jid);
    json_array_foreach (value_get(row, "minions"), i, minion)
        json_object_set_new(by_id, json_string_value(minion), json_pack("[s, n]", "silent"));
    json_t *fields = json_pack("{s:s}", "jid", jid);
    json_auto_t *live = ask_master_with(ctx, "verdicts", &fields, NULL);
    json_object_foreach (value_get(live, "verdicts"), id, verdict)
        json_object_set_new(by_id, id, json_pack("[s, n]", value_str(verdict, "verdict", "silent")));
    if (api_returns_each(api_of(ctx), jid, overview_note_return, by_id, err) < 0)
        return err->code;
    (void) json_object_del(row, "minions");
    *ret_value = json_pack("{s:O, s:O}", "job", row, "minions", by_id);
    return 0;
}

/* ---- states -------------------------------------------------------------------------------------- */

/* The matrix while it is made. */
typedef struct matrix {
    json_t *known;     /* BORROWED: {id: of accepted minions} */
    json_t *columns;   /* [[state's ID, function, SLS]] */
    json_t *places;    /* {"function\nID": column} */
    json_t *rows;      /* {id: [jid, start_us, cells or null, reason or null]} */
    const json_t *job; /* the one that is read */
    size_t left_out;   /* states beyond COLUMNS_MAX */
} matrix_t;

/* A cell's letters from best to worst. One column has all states of an ID and a function: a list of names
 * makes several. */
static const char ranks[] = ".oscxf";

static char
matrix_letter(const json_t *ret)
{
    const json_t *result = value_get(ret, "result"), *changes = value_get(ret, "changes");

    /* Of a state that another's failure kept from running the comment alone says so. */
    if (json_is_false(result))
        return str_starts(value_str(ret, "comment", ""), "One or more requisite failed") ? 's' : 'f';
    if (result == NULL || json_is_null(result))
        return 'x'; /* it would change something */
    return value_truthy(changes) ? 'c' : 'o';
}

/* The column of a state's key, "module_|-ID_|-name_|-function"; -1 without one. */
static json_int_t
matrix_column(matrix_t *self, const char *tag, const json_t *ret)
{
    const char *first = strstr(tag, "_|-"), *last = NULL;

    for (const char *p = first; p != NULL; p = strstr(p + 3, "_|-"))
        last = p;
    if (first == NULL || last == first)
        return -1;
    const char *end = strstr(first + 3, "_|-");
    AUTO_FREE char *fun = xasprintf("%.*s.%s", (int) (first - tag), tag, last + 3);
    AUTO_FREE char *own = xstrndup(first + 3, (size_t) (end - first - 3));
    const char *id = value_str(ret, "__id__", own);
    AUTO_FREE char *key = xasprintf("%s\n%s", fun, id);
    const json_t *place = json_object_get(self->places, key);
    if (place != NULL)
        return json_integer_value(place);
    size_t at = json_array_size(self->columns);
    if (at >= COLUMNS_MAX) {
        self->left_out++;
        return -1;
    }
    json_object_set_new(self->places, key, json_integer((json_int_t) at));
    json_array_append_new(self->columns, json_pack("[s, s, s]", id, fun, value_str(ret, "__sls__", "")));
    return (json_int_t) at;
}

static bool
matrix_take(void *cookie, const char *id, const char *text, size_t len)
{
    matrix_t *self = cookie;

    if (json_object_get(self->rows, id) != NULL || json_object_get(self->known, id) == NULL)
        return true;
    json_auto_t *ret = value_parse(text, len, LIMIT_LOCAL_MSG, "store", NULL);
    const json_t *states = value_get(ret, "return");
    json_t *row = json_pack("[O?, O?]", value_get(self->job, "jid"), value_get(self->job, "start_us"));
    if (json_is_object(states)) {
        /* The row has a letter for each state, at its column; of several the worst. */
        buf_auto_t row_text = BUF_INIT;
        const char *tag;
        json_t *one;

        json_object_foreach ((json_t *) states, tag, one) {
            json_int_t at = matrix_column(self, tag, one);
            if (at < 0)
                continue;
            while (row_text.len <= (size_t) at)
                buf_putc(&row_text, '.');
            char letter = matrix_letter(one);
            if (strchr(ranks, letter) > strchr(ranks, row_text.data[at]))
                row_text.data[at] = letter;
        }
        AUTO_FREE char *cells = buf_steal(&row_text);
        json_array_append_new(row, json_string(cells != NULL ? cells : ""));
        json_array_append_new(row, json_null());
    } else {
        /* A list of texts says why nothing was run. */
        AUTO_FREE char *why = json_is_array(states) ? ask_joined(states) : value_pystr(states);
        json_array_append_new(row, json_null());
        json_array_append_new(row, value_utf8(why, strnlen(why, REASON_MAX)));
    }
    json_object_set_new(self->rows, id, row);
    return true;
}

/* Takes an argument of a state job, `test=True` as text or as a keyword: SLS names are added to `mods`. */
static void
overview_read_arg(const json_t *arg, bool *ret_test, buf_t *mods)
{
    const char *text = json_string_value(arg);

    if (json_is_object(arg)) {
        *ret_test = value_bool(arg, "test", *ret_test);
        arg = value_get(arg, "mods");
        text = json_string_value(arg);
    } else if (text != NULL && str_starts(text, "test=")) {
        *ret_test = str_eq(text, "test=True") || str_eq(text, "test=true");
        return;
    }
    if (text == NULL && !json_is_array(arg))
        return;
    AUTO_FREE char *joined = text != NULL ? xstrdup(text) : ask_joined(arg);
    if (mods->len == 0)
        buf_puts(mods, joined);
}

/* What a state job applies: SLS names with commas, "" for the highstate. NEW. */
static char *
overview_mods_of(const json_t *job, bool *ret_test)
{
    buf_auto_t mods = BUF_INIT;
    json_t *arg;
    size_t i;

    *ret_test = false;
    json_array_foreach (value_get(job, "arg"), i, arg)
        overview_read_arg(arg, ret_test, &mods);
    if (str_eq(value_str(job, "fun", ""), "state.highstate") || mods.len == 0)
        return xstrdup("");
    return buf_steal(&mods);
}

/* The newest run of each minion: of real ones, or of those with test=True. */
static int
overview_states(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const funs[] = { "state.highstate", "state.apply", "state.sls" };
    const char *wanted = value_str(args, "mods", "");
    bool test = value_bool(args, "test", false);
    json_auto_t *filter = json_pack("{s:i, s:[s,s,s]}", "limit", JOBS_MAX, "function", funs[0], funs[1],
                                    funs[2]);
    json_auto_t *jobs = api_jobs(api_of(ctx), filter, err);
    json_auto_t *reply = jobs != NULL ? ask_master(ctx, "minions", err) : NULL;
    json_auto_t *others = json_object(), *places = json_object();
    json_t *columns = json_array(), *rows = json_object();
    matrix_t self = {
        .known = value_get(reply, "minions"), .columns = columns, .places = places, .rows = rows
    };
    size_t n_read = 0, accepted = json_object_size(self.known);

    *ret_value = json_pack("{s:o, s:o, s:I}", "columns", columns, "rows", rows, "accepted",
                           (json_int_t) accepted);
    if (reply == NULL)
        return err->code;
    for (size_t i = json_array_size(jobs); i > 0; i--) {
        bool of_test;
        self.job = json_array_get(jobs, i - 1);
        AUTO_FREE char *mods = overview_mods_of(self.job, &of_test);
        if (of_test == test)
            json_object_set_new(others, mods,
                                json_integer(json_integer_value(json_object_get(others, mods)) + 1));
        if (of_test != test || !str_eq(mods, wanted) || n_read >= RUNS_READ ||
            json_object_size(rows) == accepted)
            continue;
        n_read++;
        if (api_returns_each(api_of(ctx), value_str(self.job, "jid", ""), matrix_take, &self, err) < 0)
            return err->code;
        ctx_progress(ctx, json_object_size(rows), accepted, "minions with a run");
    }
    json_object_set(*ret_value, "mods", others);
    json_object_set_new(*ret_value, "left_out", json_integer((json_int_t) self.left_out));
    return 0;
}

/* ---- health -------------------------------------------------------------------------------------- */

/* The master's counters, what it reacts to, and the processes beside it. */
static int
overview_health(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *fields = json_pack("{s:s}", "action", "list");
    json_auto_t *status = ask_master(ctx, "status", err);
    fail_auto_t refused = FAIL_INIT;
    json_auto_t *list = status != NULL ? ask_master_with(ctx, "reactor", &fields, &refused) : NULL;

    if (status == NULL)
        return err->code;
    (void) json_object_del(status, "n");
    *ret_value = json_pack("{s:O, s:o}", "status", status, "reactors",
                           list != NULL ? json_incref(value_get(list, "result"))
                                        : json_string(fail_text(&refused)));
    return 0;
}

/* ---- table --------------------------------------------------------------------------------------- */

#define READS FN_READONLY | FN_HISTORY | FN_ACCESS_READ

static const arg_t jobs_args[] = { ARG("count", ARG_INT, "200", "How many of the newest jobs"), ARGS_END };
static const arg_t job_args[] = { ARG("jid", ARG_STR, ARG_REQUIRED, "The jid to look up"), ARGS_END };
static const arg_t states_args[] = {
    ARG("test", ARG_BOOL, "false", "Runs with test=True, which tell what has drifted"),
    ARG("mods", ARG_STR, "\"\"",
        "The SLS files that were applied, as text with commas; empty: the highstate"),
    ARGS_END
};

static const func_t funcs[] = {
    { "fleet", overview_fleet, NULL, READS,
      "Return a row of each minion and of each key that waits or is rejected: its id, whether it is ``up``, ``down``, "
      "``pending`` or ``rejected``, its address, its version, and since when it is connected or away, in milliseconds. "
      "The master knows; no minion is asked." CLI_EXAMPLE("salt-run overview.fleet") },
    { "health", overview_health, NULL, READS,
      "Return the master's counters, what it reacts to and how far it has come, and the processes that store events "
      "elsewhere." CLI_EXAMPLE("salt-run overview.health") },
    { "job", overview_job, job_args, READS,
      "Return a job, and of each of its minions the verdict and the return code: ``returned``, ``failed``, ``silent``, "
      "or the master's own while it is under way." CLI_EXAMPLE(
          "salt-run overview.job 20261120094019532935") },
    { "jobs", overview_jobs, jobs_args, READS,
      "Return the newest jobs, newest first, each with how many minions it has, how many returned and how many failed; "
      "and which of them run now." CLI_EXAMPLE(
          "salt-run overview.jobs\n    salt-run overview.jobs count=20") },
    { "states", overview_states, states_args, READS,
      "Return a matrix of states and minions out of the newest stored run of each accepted minion; none is "
      "started.\n\nEach minion's row has a letter for each column: ``o`` nothing to do, ``c`` changed, ``x`` would "
      "change, ``f`` failed, ``s`` not run because of another, ``.`` not among its states.\n\ntest : False\n    The "
      "newest runs with ``test=True`` instead.\n\nmods\n    Runs of these SLS files instead of the highstate." CLI_EXAMPLE(
          "salt-run overview.states\n    salt-run overview.states test=True\n    salt-run overview.states mods=nginx") },
};

PLUGIN(runner, overview, .doc = "The fleet, its jobs and states at one look", FUNCS(funcs));
