/* test_job.c - a job's child: its return, its questions and events, and every way in which it can go wrong.
 */
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/host/procfs.h"
#include "common/host/proc.h"
#include "common/base/str.h"
#include "minion/jobs/job.h"
#include "uplink/jobret.h"
#include "salt/limits.h"
#include "salt/plugin.h"
#include "unit/unit.h"

#define JID "20261120100000123456"

/* ---- a module that misbehaves ---------------------------------------------------------------- */

static int
job_echo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_pack("{s:O, s:s, s:s, s:O}", "args", args, "id", ctx_id(ctx), "jid", ctx_jid(ctx),
                           "grains", ctx_grains(ctx));
    ctx_set_retcode(ctx, 3);
    return 0;
}

static int
job_crash(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) signal(SIGSEGV, SIG_DFL);
    (void) raise(SIGSEGV);
    return 0;
}

static int
job_leave(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    _exit(7);
}

static int
job_hang(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    while (pause() < 0)
        continue;
    return fail_set(err, -EINTR, "pause");
}

static int
job_run_sleep(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t out = BUF_INIT;

    int rc = proc_output(&out, 0, "sleep", "1000", NULL);
    *ret_value = json_integer(rc);
    return rc < 0 ? fail_set(err, rc, "sleep") : 0;
}

static int
job_large(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    size_t n = (size_t) value_int(args, "size", 0);
    AUTO_FREE char *text = xcalloc(1, n + 1);

    memset(text, 'x', n);
    *ret_value = json_string(text);
    return 0;
}

/* Lists inside each other. */
static int
job_deep(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *v = json_array();

    for (json_int_t i = 1; i < value_int(args, "size", 0); i++)
        v = json_pack("[o]", v);
    *ret_value = v;
    return 0;
}

static int
job_memory(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    for (int i = 0; i < 1000; i++)
        memset(xcalloc(1, 16 * 1024 * 1024), 1, 1);
    *ret_value = json_true();
    return 0;
}

/* What address space a program may use, in kB. */
static int
job_program_limit(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t out = BUF_INIT;

    int rc = proc_output(&out, 10000, "sh", "-c", "ulimit -v", NULL);
    *ret_value = json_string(str_trim(out.data));
    return rc < 0 ? fail_set(err, rc, "sh") : 0;
}

static int
job_ask(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *request = json_pack("{s:s, s:O}", "op", "anything", "with", args);

    return ctx_host(ctx, request, ret_value, err);
}

static int
job_fire(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_int_t n = value_int(args, "count", 1);

    for (json_int_t i = 0; i < n; i++) {
        json_auto_t *data = json_pack("{s:I}", "i", i);
        if (ctx_fire(ctx, "my/tag", data, err) < 0)
            return err->code;
    }
    AUTO_FREE char *text = xcalloc(1, 5001);
    memset(text, 'x', 5000);
    json_auto_t *large = json_pack("{s:s}", "a", text);
    fail_auto_t why = FAIL_INIT;
    int rc = ctx_fire(ctx, "my/large", large, &why);
    *ret_value = json_pack("[i, s]", rc, fail_text(&why));
    return 0;
}

static const arg_t any_args[] = { ARG("a", ARG_ANY, "null", "x"), ARG("b", ARG_ANY, "null", "x"), ARGS_END };
static const arg_t size_args[] = { ARG("size", ARG_INT, "0", "x"), ARGS_END };
static const arg_t large_args[] = { ARG("size", ARG_INT, "0", "x"), ARG("more", ARG_ANY, "null", "x"),
                                    ARGS_END };
static const arg_t count_args[] = { ARG("count", ARG_INT, "1", "x"), ARGS_END };

static const func_t job_funcs[] = {
    { "echo", job_echo, any_args, 0, "x" },       { "crash", job_crash, NULL, 0, "x" },
    { "leave", job_leave, NULL, 0, "x" },         { "hang", job_hang, NULL, 0, "x" },
    { "run_sleep", job_run_sleep, NULL, 0, "x" }, { "large", job_large, large_args, 0, "x" },
    { "memory", job_memory, NULL, 0, "x" },       { "program_limit", job_program_limit, NULL, 0, "x" },
    { "deep", job_deep, size_args, 0, "x" },      { "ask", job_ask, any_args, 0, "x" },
    { "fire", job_fire, count_args, 0, "x" },
};

PLUGIN(exec, j, FUNCS(job_funcs), .doc = "For tests.");

/* ---- the job server's part ------------------------------------------------------------------- */

typedef struct fixture {
    const plugin_t *plugins[1];
    registry_t *registry;
    json_t *opts, *grains;
    job_env_t env;
    json_t *frames; /* what the child said beside its return */
    job_proc_t *proc;
} fixture_t;

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));

    f->plugins[0] = &exec_j;
    f->registry = registry_new(PLUGIN_EXEC, f->plugins, 1);
    f->opts = json_pack("{s:i}", "max_event_size", 2000);
    f->grains = json_pack("{s:s}", "os", "Debian");
    f->env = (job_env_t){
        .registry = f->registry, .opts = f->opts, .grains = f->grains, .id = "m1", .output_limit = 100000
    };
    f->frames = json_array();
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    job_proc_destroy(&f->proc);
    registry_destroy(&f->registry);
    json_decref(f->opts), json_decref(f->grains), json_decref(f->frames);
    free(f);
    return 0;
}

static void
start(fixture_t *f, const char *job)
{
    fail_auto_t err = FAIL_INIT;
    json_t *doc = json_loads(job, 0, NULL);

    assert_non_null(doc);
    f->proc = job_start(&f->env, &doc, &err);
    assert_non_null(f->proc);
    assert_null(doc);
}

static void
read_frames(fixture_t *f)
{
    json_t *frame = NULL;

    while (job_read(f->proc, f->env.output_limit, &frame) == 1) {
        if (str_eq(value_str(frame, "t", ""), "host")) {
            json_t *with = value_get(value_get(value_get(frame, "request"), "with"), "a");
            json_t *answer = json_is_null(with) ? json_pack("{s:b, s:s}", "ok", 0, "error", "no, because")
                                                : json_pack("{s:b, s:O}", "ok", 1, "value", with);
            job_answer(f->proc, &answer);
            assert_null(answer);
        }
        json_array_append_new(f->frames, frame);
    }
}

/* NEW value of a return. TAKES ret. */
static json_t *
value_of(jobret_t *ret)
{
    AUTO(jobret) said = ret;

    return jobret_value(said);
}

/* Until the child is gone; NEW what goes to the master. */
static json_t *
finish(fixture_t *f)
{
    while (!f->proc->exited) {
        struct pollfd pfd = { f->proc->fd, POLLIN, 0 };
        if (f->proc->fd >= 0 && poll(&pfd, 1, 10) > 0)
            read_frames(f);
        if (f->proc->deadline_ms && clock_mono_ms() >= f->proc->deadline_ms && !f->proc->timed_out) {
            f->proc->timed_out = true;
            assert_int_equal(job_signal(f->proc, SIGKILL), 0);
        }
        f->proc->exited = waitpid(f->proc->pid, &f->proc->status, f->proc->fd >= 0 ? WNOHANG : 0) ==
                          f->proc->pid;
    }
    read_frames(f);
    return value_of(job_return(f->proc));
}

/* NEW return of one function of the module above. */
static json_t *
run(fixture_t *f, const char *fun, const char *arg)
{
    AUTO_FREE char *job = xasprintf(
        "{\"jid\":\"" JID "\",\"fun\":\"j.%s\",\"arg\":%s,\"tgt\":\"*\",\"master\":0}", fun, arg);

    job_proc_destroy(&f->proc);
    start(f, job);
    return finish(f);
}

static void
assert_failed(const json_t *ret, const char *words)
{
    assert_string_equal(value_str(ret, "jid", ""), JID);
    assert_int_equal(value_int(ret, "retcode", 0), 1);
    assert_true(json_is_false(value_get(ret, "success")));
    if (strstr(value_str(ret, "return", ""), words) == NULL)
        fail_msg("'%s' is not in '%s'", words, value_str(ret, "return", ""));
}

/* ---- tests ------------------------------------------------------------------------------------ */

static void
test_return(void **state)
{
    fixture_t *f = *state;
    json_auto_t *ret = run(f, "echo", "[1, {\"b\": [2], \"__kwarg__\": true}]");
    json_t *value = value_get(ret, "return");

    assert_string_equal(value_str(ret, "jid", ""), JID);
    assert_string_equal(value_str(ret, "fun", ""), "j.echo");
    assert_int_equal(json_array_size(value_get(ret, "fun_args")), 2);
    assert_int_equal(value_int(ret, "retcode", 0), 3);
    assert_int_equal(value_int(value_get(value, "args"), "a", 0), 1);
    assert_int_equal(json_array_size(value_get(value_get(value, "args"), "b")), 1);
    assert_string_equal(value_str(value, "id", ""), "m1");
    assert_string_equal(value_str(value, "jid", ""), JID);
    assert_string_equal(value_str(value_get(value, "grains"), "os", ""), "Debian");
    assert_null(value_get(ret, "master"));
}

static void
test_several_functions(void **state)
{
    fixture_t *f = *state;

    start(f, "{\"jid\":\"" JID "\",\"fun\":[\"j.echo\",\"j.none\"],\"arg\":[[1],[]],\"metadata\":{\"m\":1}}");
    json_auto_t *ret = finish(f);
    assert_int_equal(value_int(value_get(ret, "retcode"), "j.echo", 0), 3);
    assert_true(value_int(value_get(ret, "retcode"), "j.none", 0) != 0);
    assert_true(json_is_false(value_get(value_get(ret, "success"), "j.none")));
    assert_true(json_is_object(value_get(value_get(ret, "return"), "j.echo")));
    assert_int_equal(value_int(value_get(ret, "metadata"), "m", 0), 1);
}

static void
test_crash(void **state)
{
    fixture_t *f = *state;
    json_auto_t *crash = run(f, "crash", "[]"), *leave = NULL;

    assert_failed(crash, "signal 11");
    leave = run(f, "leave", "[]");
    assert_failed(leave, "exit code 7");
}

static void
test_time(void **state)
{
    fixture_t *f = *state;

    f->env.timeout_s = 1;
    json_auto_t *ret = run(f, "hang", "[]");
    assert_failed(ret, "job_timeout_max");
}

/* The first process that `pid` started, 0 when there is none. */
static pid_t
child_of(pid_t pid)
{
    size_t n;
    AUTO_FREE pid_t *pids = procfs_pids(&n, NULL);
    procfs_proc_t p;

    for (size_t i = 0; i < n; i++)
        if (procfs_proc(pids[i], &p, NULL) > 0 && p.ppid == pid && str_eq(p.name, "sleep"))
            return pids[i];
    return 0;
}

/* What a module runs ends with the job. */
static void
test_programs_end_too(void **state)
{
    fixture_t *f = *state;
    pid_t program = 0;
    int64_t until = clock_mono_ms() + 10000;

    start(f, "{\"jid\":\"" JID "\",\"fun\":\"j.run_sleep\",\"arg\":[]}");
    while ((program = child_of(f->proc->pid)) == 0)
        assert_true(clock_mono_ms() < until);
    assert_int_equal(job_signal(f->proc, SIGTERM), 0);
    json_auto_t *ret = finish(f);
    assert_failed(ret, "signal 15");
    procfs_proc_t p;
    while (procfs_proc(program, &p, NULL) > 0 && p.state != 'Z')
        assert_true(clock_mono_ms() < until);
}

/* A child that was reaped has no number any more: it may be another's. */
static void
test_no_signal_to_a_number(void **state)
{
    fixture_t *f = *state;
    json_decref(run(f, "run_sleep_not_at_all", "[]"));
    assert_true(f->proc->exited);
    pid_t other = fork();
    if (other == 0)
        for (;;)
            (void) pause();
    f->proc->pid = other;
    assert_int_equal(job_signal(f->proc, SIGKILL), -ESRCH);
    assert_int_equal(waitpid(other, NULL, WNOHANG), 0);
    assert_int_equal(kill(other, SIGKILL), 0);
    assert_int_equal(waitpid(other, NULL, 0), other);
}

static void
test_output_limit(void **state)
{
    fixture_t *f = *state;
    json_auto_t *fits = run(f, "large", "[50000]"), *large = NULL;

    assert_int_equal(json_string_length(value_get(fits, "return")), 50000);
    large = run(f, "large", "[5000000]");
    assert_failed(large, "job_output_max");
}

/* With what stands beside it a return may be larger than any message, though the job may return so much. */
static void
test_return_that_fits_no_message(void **state)
{
    fixture_t *f = *state;

    f->env.output_limit = LIMIT_WIRE_MSG;
    json_auto_t *large = run(f, "large", "[16777140]");
    assert_failed(large, "job_output_max");
    assert_non_null(strstr(value_str(large, "return", ""), "its limit is 16777216"));
    assert_int_equal(json_array_size(value_get(large, "fun_args")), 0);

    json_auto_t *fits = run(f, "large", "[16777000]");
    assert_int_equal(json_string_length(value_get(fits, "return")), 16777000);
}

static void
test_return_that_no_master_reads(void **state)
{
    for (int more = 0; more <= 100; more += 100) {
        json_auto_t *list = json_array();
        for (int i = 0; i < LIMIT_RET_VALUES - 50 + more; i++)
            json_array_append_new(list, json_integer(i % 10));
        json_t *ret = json_pack("{s:s, s:s, s:[], s:O, s:i, s:b}", "jid", JID, "fun", "j.large", "fun_args",
                                "return", list, "retcode", 0, "success", 1);
        json_auto_t *fits = value_of(jobret_make(&ret));
        assert_int_equal(json_array_size(value_get(fits, "return")), more > 0 ? 0 : json_array_size(list));
        if (more > 0)
            assert_failed(fits, "more than 1000000 values");
    }
}

/* A list of functions may be longer than any return. */
static void
test_functions_that_fit_no_message(void **state)
{
    json_t *funs = json_array();
    for (int i = 0; i < LIMIT_RET_VALUES + 1; i++)
        json_array_append_new(funs, json_string("a.b"));
    json_auto_t *mark = json_pack("{s:s, s:o, s:[]}", "jid", JID, "fun", funs, "arg");
    json_auto_t *ret = value_of(job_interrupted(mark));
    assert_failed(ret, "more than 1000000 values");
    assert_true(json_is_string(value_get(ret, "fun")));

    AUTO_FREE char *text = xcalloc(1, LIMIT_WIRE_MSG);
    memset(text, 'x', LIMIT_WIRE_MSG - 100);
    json_auto_t *odd = json_pack("{s:s, s:s, s:[]}", "jid", JID, "fun", text, "arg");
    json_auto_t *named = value_of(job_interrupted(odd));
    assert_failed(named, "its limit is 16777216");
}

/* A return is worth more than what the job was asked with, which the master knows. */
static void
test_arguments_that_fit_no_message(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *text = xcalloc(1, LIMIT_WIRE_MSG);

    memset(text, 'x', LIMIT_WIRE_MSG - 40);
    AUTO_FREE char *job = xasprintf("{\"jid\":\"" JID "\",\"fun\":\"j.large\",\"arg\":[3,\"%s\"]}", text);
    start(f, job);
    json_auto_t *ret = finish(f);
    assert_string_equal(value_str(ret, "return", ""), "xxx");
    assert_int_equal(json_array_size(value_get(ret, "fun_args")), 0);

    json_object_set_new(f->proc->job, "metadata", json_string(text));
    json_auto_t *failed = value_of(job_return(f->proc));
    assert_failed(failed, "job_output_max");
    assert_null(value_get(failed, "metadata"));
}

/* The limit is for what a job puts out; its return repeats the arguments, which are not that. */
static void
test_arguments_are_no_output(void **state)
{
    fixture_t *f = *state;
    size_t limit = f->env.output_limit;
    AUTO_FREE char *text = xcalloc(1, limit + 1);

    memset(text, 'x', limit);
    AUTO_FREE char *little = xasprintf("[3,\"%s\"]", text), *much = xasprintf("[%zu,\"%s\"]", limit, text);
    json_auto_t *fits = run(f, "large", little), *large = NULL;
    assert_string_equal(value_str(fits, "return", ""), "xxx");
    assert_int_equal(json_array_size(value_get(fits, "fun_args")), 2);
    large = run(f, "large", much);
    assert_failed(large, "job_output_max");
}

/* The job server passes a child's text on unread, so what is not a return of this job is refused. */
static void
test_texts_that_are_no_return(void **state)
{
    static const char *const bad[] = {
        "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\",\"return\":1",
        "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\",\"return\":}",
        "{\"m\":\"ret\",\"jid\":\"20261120100000000009\",\"return\":1}",
        "{\"m\":\"ret\",\"return\":{\"jid\":\"" JID "\"}}",
        "{\"m\":\"event\",\"jid\":\"" JID "\"}",
        "{\"jid\":\"" JID "\",\"m\":\"ret\"}",
        "{\"m\":\"ret\",\"jid\":\"" JID "\"} {}",
        "{\"m\"",
    };
    static const char *const good[] = {
        "{\"m\":\"ret\",\"jid\":\"" JID "\",\"fun\":\"a.b\",\"return\":1}",
        "{\"m\":\"ret\",\"jid\":\"" JID "\",\"return\":\"\\u20ac\"}",
    };
    for (size_t i = 0; i < NELEMS(bad); i++) {
        AUTO(jobret) none = NULL;
        assert_int_equal(jobret_read(bad[i], strlen(bad[i]), JID, &none), -EPROTO);
        assert_null(none);
    }
    for (size_t i = 0; i < NELEMS(good); i++) {
        AUTO(jobret) ret = NULL;
        assert_int_equal(jobret_read(good[i], strlen(good[i]), JID, &ret), 0);
        assert_int_equal(ret->len, strlen(good[i]));
        assert_memory_equal(ret->text, good[i], ret->len);
        json_auto_t *value = jobret_value(ret);
        assert_null(value_get(value, "m"));
        assert_string_equal(value_str(value, "jid", ""), JID);
    }
}

static void
test_depth(void **state)
{
    fixture_t *f = *state;
    json_auto_t *most = run(f, "deep", "[511]"), *deeper = NULL, *frame = NULL;

    assert_true(value_bool(most, "success", false));
    deeper = run(f, "deep", "[512]");
    assert_failed(deeper, "nested deeper than the 512 levels");
    frame = run(f, "deep", "[600]");
    assert_failed(frame, "nested deeper than the 512 levels");
}

static void
test_memory_limit(void **state)
{
    fixture_t *f = *state;

    SKIP_CHECKED(); /* a sanitizer reserves terabytes */
    f->env.memory_limit = 256UL * 1024 * 1024;
    json_auto_t *ret = run(f, "memory", "[]");
    assert_failed(ret, "ran out of memory");
    /* Not a program's limit. */
    json_auto_t *program = run(f, "program_limit", "[]");
    assert_string_equal(value_str(program, "return", ""), "unlimited");
}

static void
test_question(void **state)
{
    fixture_t *f = *state;
    json_auto_t *yes = run(f, "ask", "[{\"deep\": [1, 2]}]"), *no = NULL;

    assert_int_equal(json_array_size(value_get(value_get(yes, "return"), "deep")), 2);
    no = run(f, "ask", "[]");
    assert_non_null(strstr(value_str(no, "return", ""), "no, because"));
}

static void
test_events(void **state)
{
    fixture_t *f = *state;
    json_auto_t *ret = run(f, "fire", "[500]");
    size_t i;
    json_t *frame, *answer = value_get(ret, "return");

    assert_int_equal(json_array_size(f->frames), 500);
    json_array_foreach (f->frames, i, frame) {
        assert_string_equal(value_str(frame, "t", ""), "fire");
        assert_string_equal(value_str(frame, "tag", ""), "my/tag");
        assert_int_equal(value_int(value_get(frame, "data"), "i", -1), i);
    }
    /* One over max_event_size is the module's failure, not the minion's. */
    assert_int_equal(json_integer_value(json_array_get(answer, 0)), -EMSGSIZE);
    assert_non_null(strstr(json_string_value(json_array_get(answer, 1)), "max_event_size"));
}

static void
test_unknown_functions(void **state)
{
    fixture_t *f = *state;
    json_auto_t *none = run(f, "none", "[]");

    assert_true(json_is_false(value_get(none, "success")));
    assert_non_null(strstr(value_str(none, "return", ""), "j.none"));
}

static void
test_interrupted(void **state)
{
    json_auto_t *mark = json_pack("{s:s, s:s, s:[i]}", "jid", JID, "fun", "a.b", "arg", 1);
    json_auto_t *ret = value_of(job_interrupted(mark));

    assert_failed(ret, "stopped while this job ran");
    assert_string_equal(value_str(ret, "fun", ""), "a.b");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_return), TEST(test_several_functions), TEST(test_crash), TEST(test_time),
          TEST(test_programs_end_too), TEST(test_no_signal_to_a_number), TEST(test_output_limit),
          TEST(test_arguments_are_no_output), cmocka_unit_test(test_functions_that_fit_no_message),
          cmocka_unit_test(test_texts_that_are_no_return), TEST(test_memory_limit), TEST(test_question),
          TEST(test_return_that_fits_no_message), cmocka_unit_test(test_return_that_no_master_reads),
          TEST(test_arguments_that_fit_no_message), TEST(test_depth), TEST(test_events),
          TEST(test_unknown_functions), cmocka_unit_test(test_interrupted))
