/* test_key_change.c - salt-key beside a running master: what it asks of it, and what it makes of the answers.
 * The master is a child that follows a script. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/key_cli.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"
#include "unit/key_state.h"

typedef struct fixture {
    char dir[40];
    char *said; /* the master writes the requests that it got there, one a line */
    pid_t master;
    keystore_t *store;
    json_t *values, *opts;
    key_cli_t cli;
    char *prose;
    size_t prose_len;
} fixture_t;

static const uint8_t key[KEY_BYTES] = { 1 };

/* ---- the scripted master ------------------------------------------------------------------------- */

/* Answers each request with the next element of `replies`, its "n" added. */
static void NORETURN
master_child(int listener, const char *said, const json_t *replies)
{
    int fd = accept(listener, NULL, NULL);
    buf_auto_t in = BUF_INIT, out = BUF_INIT, log = BUF_INIT;
    size_t i = 0;
    char chunk[4096];
    ssize_t n;

    while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
        json_t *request = NULL;

        buf_add(&in, chunk, (size_t) n);
        while (frame_take(&in, LIMIT_LOCAL_MSG, &request, NULL) == 1) {
            json_auto_t *reply = json_deep_copy(json_array_get(replies, i++));
            AUTO_FREE char *text = value_dump(request);

            buf_printf(&log, "%s\n", text);
            if (reply == NULL || fs_write_quick(said, buf_str(&log), log.len, 0600, NULL) != 0)
                _exit(0); /* out of script: the line breaks */
            json_object_set(reply, "n", json_object_get(request, "n"));
            json_decref(request);
            buf_clear(&out);
            frame_add(&out, reply);
            if (fs_write_all(fd, out.data, out.len) != 0)
                _exit(1);
        }
    }
    _exit(0);
}

static void
start_master(fixture_t *f, const char *replies)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    json_auto_t *script = json_loads(replies, 0, NULL);

    assert_non_null(script);
    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", f->dir, LOCAL_SOCKET_NAME);
    assert_int_equal(bind(listener, (struct sockaddr *) &addr, sizeof(addr)), 0);
    assert_int_equal(listen(listener, 1), 0);
    f->master = fork();
    assert_true(f->master >= 0);
    if (f->master == 0)
        master_child(listener, f->said, script);
    close(listener);
}

/* ---- one run of salt-key ------------------------------------------------------------------------- */

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));

    strcpy(f->dir, "/tmp/halite-keychange-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->said = fs_join(f->dir, "said");
    AUTO_FREE char *pki = fs_join(f->dir, "pki");
    f->store = keystore_new(pki, NULL);
    assert_non_null(f->store);
    assert_int_equal(keystore_put(f->store, "web1", KEY_PENDING, key, NULL), 0);
    assert_int_equal(keystore_put(f->store, "web2", KEY_PENDING, key, NULL), 0);
    assert_int_equal(keystore_put(f->store, "web3", KEY_REJECTED, key, NULL), 0);
    f->opts = json_pack("{s:s}", "sock_dir", f->dir);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    if (f->master > 0)
        assert_int_equal(waitpid(f->master, NULL, 0), f->master);
    keystore_destroy(&f->store);
    json_decref(f->opts);
    json_decref(f->values);
    assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
    free(f->prose);
    free(f->said);
    free(f);
    return 0;
}

/* Runs with `options` (JSON); what it says for people is kept in f->prose. Returns the exit code. */
static int
run_key(fixture_t *f, const char *options)
{
    f->values = json_loads(options, 0, NULL);
    assert_non_null(f->values);
    json_object_set_new(f->values, "output", json_string("quiet")); /* stdout is TAP's */
    const key_verb_t *verb = key_verb_of(f->values);

    f->cli = (key_cli_t){ .values = f->values, .opts = f->opts, .store = f->store };
    f->cli.match = verb->match != NULL ? verb->match : value_str(f->values, verb->option, "");
    assert_int_equal(key_out_init(&f->cli), 0);
    f->cli.prose = open_memstream(&f->prose, &f->prose_len);
    int rc = verb->run(&f->cli, verb);

    fclose(f->cli.prose);
    return rc;
}

/* The requests that the master got, without their numbers. */
static void
assert_requests(const fixture_t *f, const char *want)
{
    buf_auto_t text = BUF_INIT, bare = BUF_INIT;

    assert_int_equal(fs_read(f->said, LIMIT_FILE_READ, &text, NULL), 0);
    char **lines = str_split(buf_str(&text), "\n", true);

    for (size_t i = 0; lines[i] != NULL; i++) {
        json_auto_t *request = json_loads(lines[i], 0, NULL);

        json_object_del(request, "n");
        AUTO_FREE char *dump = value_dump(request);

        buf_printf(&bare, "%s\n", dump);
    }
    strv_free(lines);
    assert_string_equal(buf_str(&bare), want);
}

/* ---- tests --------------------------------------------------------------------------------------- */

static void
test_accept(void **state)
{
    fixture_t *f = *state;

    start_master(f, "[{\"ok\": true, \"done\": [\"web1\", \"web2\"]}]");
    assert_int_equal(run_key(f, "{\"accept_all\": true, \"yes\": true}"), 0);
    assert_string_equal(f->prose, "The following keys are going to be accepted:\n"
                                  "Key for minion web1 accepted.\nKey for minion web2 accepted.\n");
    assert_requests(f, "{\"op\":\"key_apply\",\"action\":\"accept\",\"ids\":[\"web1\",\"web2\"],\"from\":["
                       "\"minions_pre\"]}\n");
    /* The files are the master's to move. */
    assert_int_equal(key_state_of(f->store, "web1"), KEY_PENDING);
}

static void
test_one_request_per_state(void **state)
{
    fixture_t *f = *state;

    start_master(f, "[{\"ok\": true, \"done\": [\"web1\", \"web2\"]}, {\"ok\": true, \"done\": [\"web3\"]}]");
    assert_int_equal(run_key(f, "{\"delete\": \"web*\", \"yes\": true}"), 0);
    assert_requests(
        f,
        "{\"op\":\"key_apply\",\"action\":\"delete\",\"ids\":[\"web1\",\"web2\"],\"from\":[\"minions_pre\"]}"
        "\n"
        "{\"op\":\"key_apply\",\"action\":\"delete\",\"ids\":[\"web3\"],\"from\":[\"minions_rejected\"]}\n");
    assert_non_null(strstr(f->prose, "Key for minion web3 deleted.\n"));
}

static void
test_partly_done(void **state)
{
    fixture_t *f = *state;

    start_master(f, "[{\"ok\": true, \"done\": [\"web2\"]}]");
    assert_int_equal(run_key(f, "{\"reject_all\": true, \"yes\": true}"), 1);
    assert_null(strstr(f->prose, "web1 rejected"));
    assert_non_null(strstr(f->prose, "Key for minion web2 rejected.\n"));
}

static void
test_master_refuses(void **state)
{
    fixture_t *f = *state;

    start_master(f, "[{\"ok\": false, \"error\": \"only root may do this\"}]");
    assert_int_equal(run_key(f, "{\"accept\": \"web1\", \"yes\": true}"), 1);
    assert_null(strstr(f->prose, "Key for minion"));
    assert_int_equal(key_state_of(f->store, "web1"), KEY_PENDING);
}

/* A master that breaks off is not the same as none: nothing is done behind its back. */
static void
test_master_breaks_off(void **state)
{
    fixture_t *f = *state;

    start_master(f, "[]");
    assert_int_equal(run_key(f, "{\"accept\": \"web1\", \"yes\": true}"), 1);
    assert_int_equal(key_state_of(f->store, "web1"), KEY_PENDING);
}

static void
test_without_master(void **state)
{
    fixture_t *f = *state;

    assert_int_equal(run_key(f, "{\"accept\": \"web1,web3\", \"include_rejected\": true, \"yes\": true}"), 0);
    assert_int_equal(key_state_of(f->store, "web1"), KEY_ACCEPTED);
    assert_int_equal(key_state_of(f->store, "web2"), KEY_PENDING);
    assert_int_equal(key_state_of(f->store, "web3"), KEY_ACCEPTED);
}

/* What a killed master leaves behind: a socket that nobody listens on. */
static void
test_dead_socket(void **state)
{
    fixture_t *f = *state;
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", f->dir, LOCAL_SOCKET_NAME);
    assert_int_equal(bind(listener, (struct sockaddr *) &addr, sizeof(addr)), 0);
    close(listener);
    assert_int_equal(run_key(f, "{\"reject\": \"web1\", \"yes\": true}"), 0);
    assert_int_equal(key_state_of(f->store, "web1"), KEY_REJECTED);
}

static void
test_verbs(void **state)
{
    static const struct {
        const char *options, *verb;
    } cases[] = {
        { "{}", "list_all" },
        { "{\"yes\": true}", "list_all" },
        { "{\"accept\": \"\"}", "list_all" },
        { "{\"finger_all\": true, \"list\": \"acc\"}", "list" },
        { "{\"delete_all\": true, \"accept\": \"x\"}", "accept" },
        { "{\"gen_keys\": \"x\", \"list_all\": true}", "gen_keys" },
        { "{\"finger\": \"x\"}", "finger" },
        { "{\"print_all\": true}", "print_all" },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *values = json_loads(cases[i].options, 0, NULL);

        assert_string_equal(key_verb_of(values)->option, cases[i].verb);
    }
}

static void
test_age(void **state)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } cases[] = {
        { -5, "0 seconds" },     { 1, "1 second" },   { 119, "119 seconds" }, { 120, "2 minutes" },
        { 7199, "119 minutes" }, { 7200, "2 hours" }, { 172799, "47 hours" }, { 345600, "4 days" }
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        AUTO_FREE char *text = key_age(cases[i].seconds);

        assert_string_equal(text, cases[i].text);
    }
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
UNIT_MAIN(WITH_STORE(test_accept), WITH_STORE(test_one_request_per_state), WITH_STORE(test_partly_done),
          WITH_STORE(test_master_refuses), WITH_STORE(test_master_breaks_off),
          WITH_STORE(test_without_master), WITH_STORE(test_dead_socket), cmocka_unit_test(test_verbs),
          cmocka_unit_test(test_age))
