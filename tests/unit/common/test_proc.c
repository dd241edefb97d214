/* test_proc.c - programs: output, input, limits, time, users, failures to start. */
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/host/proc.h"
#include "common/base/str.h"
#include "unit/unit.h"

enum { LONG_MS = 60000 }; /* a bound for programs that end by themselves */

#define SH(text) ((char *const[]){ (char *) "/bin/sh", (char *) "-c", (char *) (text), NULL })

static void
run(proc_spec_t spec, proc_result_t *res)
{
    fail_auto_t err = FAIL_INIT;

    if (spec.timeout_ms == 0)
        spec.timeout_ms = LONG_MS;
    int rc = proc_run(&spec, res, &err);
    if (rc != 0)
        fail_msg("%s", fail_text(&err));
}

/* Run and compare stdout and the status. */
static void
check(proc_spec_t spec, const char *out, int status)
{
    proc_result_t res;

    run(spec, &res);
    assert_string_equal(buf_str(&res.out), out);
    assert_int_equal(res.status, status);
    assert_false(res.timed_out);
    proc_result_free(&res);
}

static void
test_streams_apart(void **state)
{
    proc_result_t res;

    run((proc_spec_t){ .argv = SH("echo out; echo err >&2; exit 3"), .umask = -1 }, &res);
    assert_string_equal(buf_str(&res.out), "out\n");
    assert_string_equal(buf_str(&res.errs), "err\n");
    assert_int_equal(res.status, 3);
    assert_true(res.pid > 0);
    proc_result_free(&res);
}

static void
test_streams_merged(void **state)
{
    check((proc_spec_t){ .argv = SH("echo 1; echo 2 >&2; echo 3"), .merge_stderr = true, .umask = -1 },
          "1\n2\n3\n", 0);
}

static void
test_status(void **state)
{
    check((proc_spec_t){ .argv = SH("exit 255"), .umask = -1 }, "", 255);
    check((proc_spec_t){ .argv = SH("kill -TERM $$"), .umask = -1 }, "", -SIGTERM);
    check((proc_spec_t){ .argv = SH("kill -KILL $$"), .umask = -1 }, "", -SIGKILL);
}

/* More than a pipe holds, both ways at one time: neither side may wait for the other. */
static void
test_input_and_output(void **state)
{
    proc_result_t res;
    buf_auto_t in = BUF_INIT;

    for (int i = 0; i < 200000; i++)
        buf_printf(&in, "%d\n", i);
    run((proc_spec_t){ .argv = SH("cat"), .in = in.data, .in_len = in.len, .umask = -1 }, &res);
    assert_int_equal(res.out.len, in.len);
    assert_memory_equal(res.out.data, in.data, in.len);
    proc_result_free(&res);
    run((proc_spec_t){ .argv = SH("tee /dev/stderr"), .in = in.data, .in_len = in.len, .umask = -1 }, &res);
    assert_int_equal(res.out.len, in.len);
    assert_int_equal(res.errs.len, in.len);
    proc_result_free(&res);
}

static void
test_input_edges(void **state)
{
    buf_auto_t in = BUF_INIT;

    signal(SIGPIPE, SIG_DFL);
    buf_fill(&in, 'x', 1 << 20);
    check((proc_spec_t){ .argv = SH("exec <&-; echo done"), .in = in.data, .in_len = in.len, .umask = -1 },
          "done\n", 0);
    check((proc_spec_t){ .argv = SH("wc -c"), .in = "", .umask = -1 }, "0\n", 0);
    check((proc_spec_t){ .argv = SH("wc -c; readlink /proc/self/fd/0"), .umask = -1 }, "0\n/dev/null\n", 0);
}

/* A program that has closed its outputs is still given all its input, with a limit of time and without one. */
static void
test_input_without_outputs(void **state)
{
    char folder[] = "/tmp/test_proc.XXXXXX";
    buf_auto_t in = BUF_INIT;

    assert_non_null(mkdtemp(folder));
    buf_fill(&in, 'x', 1 << 20);
    for (int timeout_ms = 0; timeout_ms <= LONG_MS; timeout_ms += LONG_MS) {
        proc_spec_t spec = { .argv = SH("exec >/dev/null 2>&1; cat >got; exit 3"),
                             .in = in.data,
                             .in_len = in.len,
                             .cwd = folder,
                             .timeout_ms = timeout_ms,
                             .umask = -1 };
        AUTO_FREE char *path = fs_join(folder, "got");
        proc_result_t res;
        buf_auto_t got = BUF_INIT;
        assert_int_equal(proc_run(&spec, &res, NULL), 0);
        assert_int_equal(res.status, 3);
        assert_false(res.timed_out);
        proc_result_free(&res);
        assert_int_equal(fs_read(path, 1 << 21, &got, NULL), 0);
        assert_int_equal(got.len, in.len);
    }
    assert_int_equal(fs_remove_tree(folder, NULL), 0);
}

/* Who is left behind with the reading end, and reads nothing, keeps nobody. */
static void
test_input_that_a_stranger_holds(void **state)
{
    proc_result_t res;
    buf_auto_t in = BUF_INIT;

    buf_fill(&in, 'x', 1 << 20);
    run((proc_spec_t){ .argv = SH("exec >/dev/null 2>&1 3<&0; sleep 600 <&3 & exit 3"),
                       .in = in.data,
                       .in_len = in.len,
                       .umask = -1 },
        &res);
    assert_int_equal(kill(-res.pid, SIGKILL), 0);
    assert_int_equal(res.status, 3);
    assert_false(res.timed_out);
    proc_result_free(&res);
}

static void
test_output_limit(void **state)
{
    proc_result_t res;

    run((proc_spec_t){ .argv = SH("head -c 100000 /dev/zero; printf abcdef >&2"),
                       .out_limit = 4,
                       .umask = -1 },
        &res);
    assert_int_equal(res.out.len, 4);
    assert_string_equal(buf_str(&res.errs), "abcd");
    assert_int_equal(res.dropped, 100000 - 4 + 2);
    assert_int_equal(res.status, 0);
    proc_result_free(&res);
}

static void
test_file_limit(void **state)
{
    char path[] = "/tmp/halite-proc-XXXXXX";
    AUTO_FD fd = mkstemp(path);
    AUTO_FREE char *line = xasprintf("head -c 5000 /dev/zero 2>&1 >%s | grep -o 'File too large'", path);
    struct stat st;

    check((proc_spec_t){ .argv = SH(line), .umask = -1, .file_limit = 1000 }, "File too large\n", 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 1000);
    unlink(path);
}

static void
test_environment(void **state)
{
    char *const env[] = { (char *) "PATH=/usr/bin:/bin", (char *) "GREETING=hello", NULL };
    char *const argv[] = { (char *) "env", NULL };
    char *const none[] = { (char *) "A=1", NULL };

    check((proc_spec_t){ .argv = argv, .env = env, .umask = -1 }, "PATH=/usr/bin:/bin\nGREETING=hello\n", 0);
    check((proc_spec_t){ .argv = argv, .env = none, .umask = -1 }, "A=1\n", 0);
    setenv("TEST_PROC_INHERITED", "yes", 1);
    check((proc_spec_t){ .argv = SH("echo $TEST_PROC_INHERITED"), .umask = -1 }, "yes\n", 0);
    unsetenv("TEST_PROC_INHERITED");
}

static void
test_folder_and_umask(void **state)
{
    check((proc_spec_t){ .argv = SH("pwd; umask"), .cwd = "/usr", .umask = 027 }, "/usr\n0027\n", 0);
}

/* Nothing but 0, 1 and 2 is open, and the signals are as a program expects them. */
static void
test_clean_child(void **state)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, saved;
    sigset_t usr1, old, now;
    int extra[2];

    assert_int_equal(pipe(extra), 0); /* inherited: no close-on-exec */
    int high = fcntl(extra[0], F_DUPFD, 200);
    sigaction(SIGPIPE, &ignore, &saved);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, &old);
    check((proc_spec_t){ .argv = SH(
                             "cd /proc/$$/fd && for f in *; do [ $f -lt 10 ] && [ -e $f ] && echo $f; done; "
                             "[ -e 200 ] && echo leaked; :"),
                         .umask = -1 },
          "0\n1\n2\n", 0);
    /* A parent that used posix_spawn, as make does, leaves glibc's own two signals ignored; nobody can change
     * that. */
    check(
        (proc_spec_t){
            .argv = SH(
                "grep -E '^Sig(Blk|Ign)' /proc/self/status | sed -E 's/(0{7})(08|10|18)(0{7})/\\100\\3/'"),
            .umask = -1 },
        "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n", 0);
    sigprocmask(SIG_SETMASK, NULL, &now);
    assert_int_equal(sigismember(&now, SIGUSR1), 1);
    sigprocmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGPIPE, &saved, NULL);
    close(high);
    close(extra[0]);
    close(extra[1]);
}

/* A parent that runs without standard streams gives its child working ones. */
static void
test_parent_without_streams(void **state)
{
    int status;

    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        proc_result_t res;
        proc_spec_t spec = { .argv = SH("cat; echo err >&2"), .in = "in", .in_len = 2, .umask = -1 };
        close(0), close(1), close(2);
        int rc = proc_run(&spec, &res, NULL);
        bool ok = rc == 0 && str_eq(buf_str(&res.out), "in") && str_eq(buf_str(&res.errs), "err\n");
        proc_result_free(&res);
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Ends at the limit although a grandchild that ignores SIGTERM keeps the output open; what was written is
 * kept. */
static void
test_timeout_kills_group(void **state)
{
    int64_t start = clock_mono_ms();
    proc_result_t res;
    int alive[2];
    char byte;

    /* The grandchild holds a fifo open for writing: the end of that file tells that it is dead. */
    char folder[] = "/tmp/test_proc.XXXXXX";
    assert_non_null(mkdtemp(folder));
    AUTO_FREE char *fifo = xasprintf("%s/alive", folder);
    AUTO_FREE char *text = xasprintf("trap '' TERM; sleep 600 > %s & echo begun; wait; sleep 600", fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    alive[0] = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    run((proc_spec_t){ .argv = SH(text), .timeout_ms = 1000, .umask = -1 }, &res);
    assert_true(res.timed_out);
    assert_int_equal(res.status, -SIGKILL);
    assert_string_equal(buf_str(&res.out), "begun\n");
    assert_true(clock_mono_ms() - start < LONG_MS);
    fcntl(alive[0], F_SETFL, 0);
    assert_int_equal(read(alive[0], &byte, 1), 0);
    proc_result_free(&res);
    close(alive[0]);
    unlink(fifo);
    rmdir(folder);
}

/* The limit also holds for a program that has closed its outputs. */
static void
test_timeout_without_streams(void **state)
{
    proc_result_t res;

    run((proc_spec_t){ .argv = SH("exec >&- 2>&-; exec sleep 600"), .timeout_ms = 200, .umask = -1 }, &res);
    assert_true(res.timed_out);
    assert_int_equal(res.status, -SIGKILL);
    proc_result_free(&res);
    check((proc_spec_t){ .argv = SH("exec >&- 2>&-; exit 4"), .umask = -1 }, "", 4);
}

static void
check_refused(proc_spec_t spec, int code, const char *part)
{
    fail_auto_t err = FAIL_INIT;
    proc_result_t res;

    assert_int_equal(proc_run(&spec, &res, &err), code);
    if (strstr(fail_text(&err), part) == NULL)
        fail_msg("'%s' does not say '%s'", fail_text(&err), part);
    proc_result_free(&res);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left behind */
}

static void
test_cannot_start(void **state)
{
    char *const unknown[] = { (char *) "no-such-program-here", NULL };
    char *const absent[] = { (char *) "/no/such/program", NULL };
    char *const folder[] = { (char *) "/tmp", NULL };

    check_refused((proc_spec_t){ .argv = unknown, .umask = -1 }, -ENOENT,
                  "cannot run 'no-such-program-here': not found on PATH");
    check_refused((proc_spec_t){ .argv = absent, .umask = -1 }, -ENOENT,
                  "cannot run '/no/such/program': /no/such/program: No such file");
    check_refused((proc_spec_t){ .argv = folder, .umask = -1 }, -EACCES, "cannot run '/tmp'");
    check_refused((proc_spec_t){ .argv = SH("true"), .cwd = "/no/such/folder", .umask = -1 }, -ENOENT,
                  "changing to the folder '/no/such/folder': No such file");
    check_refused((proc_spec_t){ .argv = SH("true"), .run_as = "no-such-user", .umask = -1 }, -ENOENT,
                  "cannot run as 'no-such-user': no such user on this host");
    check_refused((proc_spec_t){ .argv = SH("true"), .group = "no-such-group", .umask = -1 }, -ENOENT,
                  "no such group on this host");
}

static void
test_other_user(void **state)
{
    const struct passwd *pw = getpwnam("nobody");

    if (geteuid() != 0 || pw == NULL)
        skip();
    AUTO_FREE char *want = xasprintf("%d %d\n", (int) pw->pw_uid, (int) pw->pw_gid);
    check((proc_spec_t){ .argv = SH("echo $(id -u) $(id -g)"), .run_as = "nobody", .umask = -1 }, want, 0);
    AUTO_FREE char *groups = xasprintf("%d\n", (int) pw->pw_gid);
    check((proc_spec_t){ .argv = SH("id -G"), .run_as = "nobody", .umask = -1 }, groups, 0);
    const struct group *gr = getgrnam("daemon");
    if (gr != NULL) {
        AUTO_FREE char *other = xasprintf("%d %d\n", (int) pw->pw_uid, (int) gr->gr_gid);
        check(
            (proc_spec_t){
                .argv = SH("echo $(id -u) $(id -g)"), .run_as = "nobody", .group = "daemon", .umask = -1 },
            other, 0);
    }
    /* The folder is entered before the user changes. */
    check(
        (proc_spec_t){
            .argv = SH("id -u >/dev/null; echo in"), .run_as = "nobody", .cwd = "/root", .umask = -1 },
        "in\n", 0);
}

/* In a mount namespace of its own, where the file that holds the groups has one that is longer than any
 * room given at first. */
static int
group_of_many(void)
{
    enum { MEMBERS = 20000 };
    buf_auto_t text = BUF_INIT;
    char path[] = "/tmp/halite.group.XXXXXX";
    fail_auto_t err = FAIL_INIT;
    proc_result_t res;

    buf_puts(&text, "root:x:0:\nmany:x:4711:m0");
    for (int i = 1; i < MEMBERS; i++)
        buf_printf(&text, ",m%d", i);
    buf_puts(&text, "\n");
    AUTO_FD fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0 || fs_write_all(fd, text.data, text.len) != 0)
        return 1;
    int rc = unshare(CLONE_NEWNS) == 0 && mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
                     mount(path, "/etc/group", "none", MS_BIND, NULL) == 0
                 ? 0
                 : -EPERM;
    unlink(path);
    if (rc != 0)
        return 2;
    proc_spec_t spec = { .argv = SH("id -g"), .group = "many", .umask = -1, .timeout_ms = LONG_MS };
    if (proc_run(&spec, &res, &err) != 0) {
        fprintf(stderr, "%s\n", fail_text(&err));
        return 1;
    }
    rc = strcmp(buf_str(&res.out), "4711\n") == 0 ? 0 : 1;
    proc_result_free(&res);
    return rc;
}

static void
test_group_of_many(void **state)
{
    int status;

    if (geteuid() != 0)
        skip();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(group_of_many());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        skip();
    assert_int_equal(status, 0);
}

/* Somebody who may not switch is told so. */
static void
test_other_user_refused(void **state)
{
    int status;

    if (geteuid() != 0)
        skip();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fail_auto_t err = FAIL_INIT;
        proc_result_t res;
        proc_spec_t spec = { .argv = SH("true"), .run_as = "root", .umask = -1 };
        if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
            _exit(2);
        int rc = proc_run(&spec, &res, &err);
        proc_result_free(&res);
        _exit(rc == -EPERM && strstr(fail_text(&err), "setting the groups of 'root'") != NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void
test_background(void **state)
{
    proc_result_t res;
    int status;

    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    run((proc_spec_t){ .argv = SH("echo nobody reads; exit 5"),
                       .background = true,
                       .in = "x",
                       .in_len = 1,
                       .umask = -1 },
        &res);
    assert_int_equal(getpgid(res.pid) == res.pid || kill(res.pid, 0) == 0, 1);
    assert_int_equal(waitpid(res.pid, &status, 0), res.pid);
    assert_int_equal(WEXITSTATUS(status), 5);
    assert_int_equal(res.out.len, 0);
    proc_result_free(&res);
}

/* Nobody but the host waits for it, not even when it could not be run. */
static void
test_background_leaves_no_child(void **state)
{
    proc_spec_t spec = { .argv = SH(":"), .background = true, .umask = -1 };
    proc_result_t res;
    siginfo_t info;

    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
    for (int i = 0; i < 3; i++) {
        run(spec, &res);
        assert_true(res.pid > 0);
        proc_result_free(&res);
    }
    spec.argv = (char *const[]){ (char *) "/nonexistent/program", NULL };
    assert_int_equal(proc_run(&spec, &res, NULL), -ENOENT);
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), -1);
    assert_int_equal(errno, ECHILD);
}

/* A process that runs a program and is killed meanwhile; how the program ended. */
static int
orphaned(bool background)
{
    int ends[2], go[2], status = 0;
    pid_t program = 0;

    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        AUTO_FREE char *text = xasprintf("echo $$ >/proc/%d/fd/%d; read go </proc/%d/fd/%d; exit 9",
                                         (int) getppid(), ends[1], (int) getppid(), go[0]);
        proc_spec_t spec = { .argv = SH(text), .umask = -1, .background = background };
        proc_result_t res;
        (void) proc_run(&spec, &res, NULL);
        (void) pause();
    }
    char text[32] = "";
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    program = (pid_t) atoi(text);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    /* Only who goes on without it is told to end. */
    if (background)
        assert_int_equal(write(go[1], "\n", 1), 1);
    /* The child between them may have become ours as well, and the program only with its end. */
    pid_t ended;
    do
        ended = waitpid(-1, &status, 0);
    while (ended > 0 && ended != program);
    assert_int_equal(ended, program);
    (void) close(ends[0]), (void) close(ends[1]);
    (void) close(go[0]), (void) close(go[1]);
    return status;
}

static void
test_ends_with_who_waits(void **state)
{
    int status = orphaned(false);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    status = orphaned(true);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

static void
test_proc_output(void **state)
{
    buf_auto_t out = BUF_INIT;

    buf_puts(&out, "> ");
    assert_int_equal(proc_output(&out, LONG_MS, "sh", "-c", "echo $0 $1; exit 7", "a", "b", (char *) NULL),
                     7);
    assert_string_equal(buf_str(&out), "> a b\n");
    assert_int_equal(proc_output(&out, LONG_MS, "no-such-program-here", (char *) NULL), -ENOENT);
    assert_int_equal(proc_output(&out, LONG_MS, "sh", "-c", "kill $$", (char *) NULL), -ECANCELED);
    assert_int_equal(proc_output(&out, 200, "sleep", "600", (char *) NULL), -ETIMEDOUT);
    assert_string_equal(buf_str(&out), "> a b\n");
}

static void *
runs_family(void *ret_result)
{
    const proc_spec_t spec = { .argv = SH("sh -c 'echo on >family; exec sleep 300'; true"), .umask = -1 };

    (void) proc_run(&spec, ret_result, NULL);
    return NULL;
}

/* In a process of its own, which starts nothing any more. What proc_run reads ends with the last of the
 * family. */
static void
end_family(const char *dir)
{
    proc_result_t family = { 0 }, none;
    const proc_spec_t more = { .argv = SH("true"), .umask = -1 };
    pthread_t thread;

    if (chdir(dir) != 0 || pthread_create(&thread, NULL, runs_family, &family) != 0)
        _exit(1);
    while (access("family", F_OK) != 0)
        poll(NULL, 0, 10);
    proc_end_all();
    pthread_join(thread, NULL);
    _exit(family.status == -SIGKILL && !family.timed_out && proc_run(&more, &none, NULL) == -ECANCELED ? 9
                                                                                                       : 1);
}

static void
test_end_all(void **state)
{
    char dir[] = "/tmp/test_proc.XXXXXX";
    int status;

    assert_non_null(mkdtemp(dir));
    pid_t pid = fork();
    if (pid == 0)
        end_family(dir);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
}

/* Forks a child that asks to end with it, after a byte from `go`, then says so on `out` and waits for the
 * end of `go`. */
static NORETURN void
parent_of_one(int go, int out, bool stay)
{
    pid_t parent = getpid();
    char byte;

    if (fork() == 0) {
        if (read(go, &byte, 1) != 1)
            _exit(1);
        proc_end_with(parent);
        if (write(out, "x", 1) != 1)
            _exit(1);
        _exit((int) read(go, &byte, 1));
    }
    (void) close(out);
    while (stay)
        pause();
    _exit(0);
}

/* `stay`: the parent is killed after that, else it has ended before. */
static void
check_end_with(bool stay)
{
    int go[2], out[2];
    char byte;

    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void) close(out[0]), (void) close(go[1]);
        parent_of_one(go[0], out[1], stay);
    }
    (void) close(out[1]);
    if (!stay)
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(write(go[1], "x", 1), 1);
    if (stay) {
        assert_int_equal(read(out[0], &byte, 1), 1);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    assert_int_equal(read(out[0], &byte, 1), 0);
    (void) close(go[0]), (void) close(go[1]), (void) close(out[0]);
}

static void
test_end_with(void **state)
{
    check_end_with(true);
    check_end_with(false);
}

UNIT_MAIN(cmocka_unit_test(test_streams_apart), cmocka_unit_test(test_streams_merged),
          cmocka_unit_test(test_status), cmocka_unit_test(test_input_and_output),
          cmocka_unit_test(test_input_edges), cmocka_unit_test(test_input_without_outputs),
          cmocka_unit_test(test_input_that_a_stranger_holds), cmocka_unit_test(test_output_limit),
          cmocka_unit_test(test_file_limit), cmocka_unit_test(test_environment),
          cmocka_unit_test(test_folder_and_umask), cmocka_unit_test(test_clean_child),
          cmocka_unit_test(test_parent_without_streams), cmocka_unit_test(test_timeout_kills_group),
          cmocka_unit_test(test_timeout_without_streams), cmocka_unit_test(test_cannot_start),
          cmocka_unit_test(test_other_user), cmocka_unit_test(test_group_of_many),
          cmocka_unit_test(test_other_user_refused), cmocka_unit_test(test_background),
          cmocka_unit_test(test_background_leaves_no_child), cmocka_unit_test(test_ends_with_who_waits),
          cmocka_unit_test(test_end_all), cmocka_unit_test(test_end_with), cmocka_unit_test(test_proc_output))
