/* test_netproc.c - the networking process as its owner sees it: frames both ways, its end, and the next one. */
#include "unit/unit.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "uplink/netproc.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

typedef struct owner {
    netproc_t *net;
    int ups, downs;
    char heard[256];
} owner_t;

/* The process: says each frame again, with its own number; told to quit, it ends; told to babble, it says
 * what is not a frame. */
static void
child(void *cookie, int fd)
{
    buf_auto_t in = BUF_INIT;
    for (;;) {
        json_t *frame = NULL;
        while (frame_take(&in, LIMIT_LOCAL_MSG, &frame, NULL) > 0) {
            buf_auto_t out = BUF_INIT;
            if (str_eq(value_str(frame, "t", ""), "quit"))
                _exit(0);
            if (str_eq(value_str(frame, "t", ""), "babble"))
                buf_add(&out, "\377\377\377\377", 4);
            else if (value_get(frame, "pass") != NULL)
                frame_add_with(&out, frame, value_str(frame, "pass", ""),
                               strlen(value_str(frame, "pass", "")));
            else
                frame_add(&out, frame);
            json_decref(frame);
            if (send(fd, out.data, out.len, MSG_NOSIGNAL) < 0)
                _exit(1);
        }
        buf_reserve(&in, 4096);
        ssize_t n = recv(fd, in.data + in.len, 4096, 0);
        if (n <= 0)
            _exit(0);
        in.len += (size_t) n;
    }
}

static void
up(void *cookie)
{
    ((owner_t *) cookie)->ups++;
}

static void
down(void *cookie)
{
    ((owner_t *) cookie)->downs++;
}

static void
frame_came(void *cookie, json_t *frame)
{
    owner_t *self = cookie;
    size_t len = strlen(self->heard);
    (void) snprintf(self->heard + len, sizeof(self->heard) - len, "%s%s ", value_str(frame, "t", ""),
                    value_str(value_get(frame, "body"), "m", ""));
}

static void
say(owner_t *self, const char *what)
{
    json_auto_t *frame = json_pack("{s:s}", "t", what);
    netproc_send(self->net, frame, NULL);
}

/* Its descriptor is served until so many were heard, or went down. */
static void
serve(owner_t *self, const char *heard, int downs)
{
    while (!str_eq(self->heard, heard) || self->downs < downs) {
        short ask = POLLIN;
        struct pollfd fd = { netproc_fd(self->net, &ask), ask, 0 };
        assert_int_equal(poll(&fd, 1, 20000), 1);
        netproc_ready(self->net, fd.revents);
    }
}

static int
setup_owner(void **state)
{
    static owner_t self;
    const netproc_env_t env = { child, up, frame_came, down, &self };
    log_init("test", LEVEL_QUIET, false);
    self = (owner_t){ .net = netproc_new(&env, 0) };
    *state = &self;
    return 0;
}

static int
teardown_owner(void **state)
{
    owner_t *self = *state;
    netproc_destroy(&self->net);
    return 0;
}

/* What is said to none is lost, and the next one begins anew. */
static void
test_again(void **state)
{
    owner_t *self = *state;
    short ask;

    assert_false(netproc_is_up(self->net));
    assert_int_equal(netproc_fd(self->net, &ask), -1);
    say(self, "lost");
    netproc_tick(self->net, clock_mono_ms());
    assert_true(netproc_is_up(self->net));
    say(self, "one");
    say(self, "two");
    serve(self, "one two ", 0);
    say(self, "quit");
    serve(self, "one two ", 1);
    assert_false(netproc_is_up(self->net));

    int64_t when = netproc_next_ms(self->net);
    assert_true(when > clock_mono_ms() - 1000);
    netproc_tick(self->net, when - 1);
    assert_false(netproc_is_up(self->net));
    netproc_tick(self->net, when);
    say(self, "three");
    serve(self, "one two three ", 1);
    assert_int_equal(self->ups, 2);
}

/* A master's message travels behind a frame as it came, and is its body; one that is not JSON is skipped, and
 * the frames after it are heard. */
static void
test_message_behind_a_frame(void **state)
{
    static const char *const texts[] = { "{\"m\":\"pillar\"}", "{\"m\":\"pillar\"", "", "[1]" };
    owner_t *self = *state;

    netproc_tick(self->net, clock_mono_ms());
    for (size_t i = 0; i < NELEMS(texts); i++) {
        json_auto_t *frame = json_pack("{s:s, s:s}", "t", "p", "pass", texts[i]);
        netproc_send(self->net, frame, NULL);
    }
    say(self, "last");
    serve(self, "ppillar p last ", 0);
    assert_int_equal(self->downs, 0);
}

/* What can't be read, as of a damaged process, ends it. */
static void
test_babble(void **state)
{
    owner_t *self = *state;

    netproc_tick(self->net, clock_mono_ms());
    say(self, "babble");
    serve(self, "", 1);
    assert_false(netproc_is_up(self->net));
}

/* Asked for a word, and silent for longer than it may be. An owner that did not run itself asks first. */
static void
test_hang(void **state)
{
    owner_t *self = *state;
    int64_t now = clock_mono_ms();

    netproc_tick(self->net, now);
    now = netproc_next_ms(self->net) + 1000000;
    netproc_tick(self->net, now);
    assert_true(netproc_is_up(self->net));
    for (int i = 0; i < 10 && netproc_is_up(self->net); i++) {
        assert_int_equal(self->downs, 0);
        now = netproc_next_ms(self->net);
        netproc_tick(self->net, now);
    }
    assert_int_equal(self->downs, 1);
    assert_string_equal(self->heard, "");
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_again, setup_owner, teardown_owner),
          cmocka_unit_test_setup_teardown(test_message_behind_a_frame, setup_owner, teardown_owner),
          cmocka_unit_test_setup_teardown(test_babble, setup_owner, teardown_owner),
          cmocka_unit_test_setup_teardown(test_hang, setup_owner, teardown_owner))
