/* Whole runs of salt and salt-run against a scripted master, one per file of tests/cases/cli. Most texts and
 * exit codes are what Salt 3006 printed ("transcript"; "differs" says what is ours).
 *
 * A case: prog, args, conf (lines for the master's file), stdout, stderr, exit, file (name, text), and
 * master: what is asked in this order, each with op, expect (members that the request must have), reply or
 * refuse, pushes, and close; with signal the program gets that signal instead of an answer. "exit" is 128
 * and a signal's number when that ended it. Without master none listens. ROOT stands for the folder of the
 * run. */
#include "unit/unit.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/run.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/limits.h"
#include "salt/value.h"

#define CASES TEST_SOURCE_DIR "/tests/cases/cli"

typedef struct stage {
    char root[64];
    int listener;
    const json_t *script; /* BORROWED: the case's "master" */
    size_t at;            /* next line of the script */
    pid_t pid;            /* of the program */
    char *wrong;          /* owned: the first thing that was not as scripted */
} stage_t;

/* ---- the master ------------------------------------------------------------------------------ */

static void
say_wrong(stage_t *s, const char *what, const json_t *request)
{
    AUTO_FREE char *text = value_dump(request);

    if (s->wrong == NULL)
        s->wrong = xasprintf("request %zu: %s: %s", s->at, what, text);
}

static void
check_request(stage_t *s, const json_t *line, const json_t *request)
{
    const char *key;
    json_t *want;

    if (!str_eq(value_str(line, "op", "(none)"), value_str(request, "op", "")))
        say_wrong(s, "another operation was scripted", request);
    json_object_foreach (value_get(line, "expect"), key, want)
        if (!json_equal(want, value_get(request, key)))
            say_wrong(s, key, request);
}

static void
answer(const json_t *line, const json_t *request, buf_t *out)
{
    const char *refusal = value_str(line, "refuse", NULL);
    json_auto_t *reply = json_is_object(value_get(line, "reply")) ? json_copy(value_get(line, "reply"))
                                                                  : json_object();
    json_t *push;
    size_t i;

    if (line == NULL)
        refusal = "not in the script";
    json_object_set_new(reply, "ok", json_boolean(refusal == NULL));
    if (refusal != NULL)
        json_object_set_new(reply, "error", json_string(refusal));
    json_object_set(reply, "n", value_get(request, "n"));
    frame_add(out, reply);
    json_array_foreach (value_get(line, "pushes"), i, push)
        frame_add(out, push);
}

/* One connection until it ends, or the script ends it. */
static void
serve(stage_t *s, int fd)
{
    buf_auto_t in = BUF_INIT;
    char chunk[4096];
    ssize_t n;

    while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
        json_t *request = NULL;
        buf_add(&in, chunk, (size_t) n);
        while (frame_take(&in, LIMIT_LOCAL_MSG, &request, NULL) == 1) {
            buf_auto_t out = BUF_INIT;
            const json_t *line = json_array_get(s->script, s->at);
            int signum = (int) value_int(line, "signal", 0);
            check_request(s, line, request);
            if (signum > 0)
                (void) kill(s->pid, signum);
            else
                answer(line, request, &out);
            json_decref(request);
            s->at++;
            if (fs_write_all(fd, out.data, out.len) != 0 || value_bool(line, "close", false))
                return;
        }
    }
}

static void *
serve_all(void *arg)
{
    stage_t *s = arg;
    int fd;

    while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
        serve(s, fd);
        close(fd);
    }
    return NULL;
}

static void
start_listening(stage_t *s)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };

    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/run/" LOCAL_SOCKET_NAME, s->root);
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->listener, (struct sockaddr *) &addr, sizeof(addr)), 0);
    assert_int_equal(listen(s->listener, 4), 0);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void
write_root(const stage_t *s, const char *name, const char *text)
{
    AUTO_FREE char *path = fs_join(s->root, name);

    assert_int_equal(fs_write_quick(path, text, strlen(text), 0644, NULL), 0);
}

static void
make_root(stage_t *s, const char *conf)
{
    strcpy(s->root, "/tmp/halite-cli-XXXXXX");
    assert_non_null(mkdtemp(s->root));
    AUTO_FREE char *etc = fs_join(s->root, "etc"), *run = fs_join(s->root, "run");
    assert_int_equal(fs_mkdirs(etc, 0755, NULL) + fs_mkdirs(run, 0755, NULL), 0);
    AUTO_FREE char *text = xasprintf("root_dir: /\nsock_dir: %s/run\npki_dir: %s/pki\ncachedir: %s/cache\n%s",
                                     s->root, s->root, s->root, conf);
    write_root(s, "etc/master", text);
}

/* In the child: does not return. */
static void
run_program(const stage_t *s, const json_t *c)
{
    const json_t *args = value_get(c, "args");
    char *argv[64] = { NULL };
    size_t n = 0, i;
    json_t *arg;
    AUTO_FREE char *etc = fs_join(s->root, "etc"), *out = fs_join(s->root, "out"),
                   *err = fs_join(s->root, "err");

    argv[n++] = xstrdup(value_str(c, "prog", "salt"));
    argv[n++] = xstrdup("-c");
    argv[n++] = xstrdup(etc);
    json_array_foreach (args, i, arg)
        argv[n++] = str_replace(json_string_value(arg), "ROOT", s->root);
    if (!freopen("/dev/null", "r", stdin) || !freopen(out, "w", stdout) || !freopen(err, "w", stderr))
        _exit(99);
    setvbuf(stderr, NULL, _IONBF, 0);
    unsetenv("NO_COLOR");
    setenv("COLUMNS", "80", 1);
    int rc = str_eq(argv[0], "salt") ? salt_main((int) n, argv) : run_main((int) n, argv);
    for (i = 0; i < n; i++)
        free(argv[i]);
    free(STEAL(etc));
    free(STEAL(out));
    free(STEAL(err));
    exit(rc);
}

/* NEW: a file of the run, with ROOT for its folder. */
static char *
read_root(const stage_t *s, const char *name)
{
    buf_auto_t text = BUF_INIT;
    AUTO_FREE char *path = fs_join(s->root, name);

    (void) fs_read(path, LIMIT_CONF_FILE, &text, NULL);
    return str_replace(buf_str(&text), s->root, "ROOT");
}

static int
compare(const char *name, const char *what, const char *want, const char *got)
{
    if (want == NULL || strcmp(want, got) == 0)
        return 0;
    print_error("%s: %s\n--- wanted\n%s--- got\n%s---\n", name, what, want, got);
    return 1;
}

static int
check_run(stage_t *s, const char *name, const json_t *c, int status)
{
    AUTO_FREE char *out = read_root(s, "out"), *err = read_root(s, "err");
    int bad = compare(name, "stdout", value_str(c, "stdout", NULL), out);

    bad += compare(name, "stderr", value_str(c, "stderr", NULL), err);
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code != value_int(c, "exit", 0)) {
        print_error("%s: exit %d instead of %d\n%s", name, code, (int) value_int(c, "exit", 0), err);
        bad++;
    }
    if (s->wrong != NULL || s->at != json_array_size(s->script)) {
        print_error("%s: %zu of %zu requests, %s\n", name, s->at, json_array_size(s->script),
                    s->wrong ? s->wrong : "");
        bad++;
    }
    const json_t *file = value_get(c, "file");
    if (file != NULL) {
        AUTO_FREE char *text = read_root(s, value_str(file, "name", ""));
        bad += compare(name, "file", value_str(file, "text", ""), text);
    }
    return bad;
}

static int
run_case(const char *name, const json_t *c)
{
    stage_t s = { .script = value_get(c, "master"), .listener = -1 };
    pthread_t thread;
    int status = 0;
    bool master = json_is_array(s.script);

    make_root(&s, value_str(c, "conf", ""));
    if (master)
        start_listening(&s);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        run_program(&s, c);
    s.pid = pid;
    if (master)
        assert_int_equal(pthread_create(&thread, NULL, serve_all, &s), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (master) {
        shutdown(s.listener, SHUT_RDWR);
        pthread_join(thread, NULL);
        close(s.listener);
    }
    int bad = check_run(&s, name, c, status);
    assert_int_equal(fs_remove_tree(s.root, NULL), 0);
    free(s.wrong);
    return bad;
}

/* For the leak checker of a child, to whom the parent's own variables may be registers of before. */
static const json_t *volatile held;

static int
run_file(const char *name)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *path = fs_join(CASES, name);

    assert_int_equal(fs_read(path, LIMIT_CONF_FILE, &text, &err), 0);
    json_auto_t *c = value_parse(text.data, text.len, LIMIT_CONF_FILE, path, &err);
    if (c == NULL)
        fail_msg("%s", fail_text(&err));
    held = c;
    return run_case(name, c);
}

static int
is_case(const struct dirent *entry)
{
    return str_ends(entry->d_name, ".json");
}

static void
test_cases(void **state)
{
    struct dirent **entries;
    int n = scandir(CASES, &entries, is_case, alphasort), bad = 0;

    assert_true(n > 0);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < n; i++) {
        bad += run_file(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    assert_int_equal(bad, 0);
}

UNIT_MAIN(cmocka_unit_test(test_cases))
