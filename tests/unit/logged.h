/* logged.h - what a piece of a test logs, warnings and above. */
#ifndef TESTS_UNIT_LOGGED_H
#define TESTS_UNIT_LOGGED_H

#include <unistd.h>

#include "common/base/fs.h"
#include "salt/log.h"
#include "unit/unit.h"

static char logged_path[] = "/tmp/halite-logged-XXXXXX";

static inline void
logged_begin(void)
{
    memcpy(strrchr(logged_path, '-'), "-XXXXXX", strlen("-XXXXXX"));
    int fd = mkstemp(logged_path);

    assert_true(fd >= 0);
    close(fd);
    log_init("test", LEVEL_QUIET, false);
    assert_int_equal(log_open_file(logged_path, LEVEL_WARNING, NULL), 0);
}

/* One line has all of it. */
static inline void
logged_end(const char *want)
{
    buf_auto_t text = BUF_INIT;

    assert_int_equal(log_open_file("/dev/null", LEVEL_QUIET, NULL), 0);
    assert_int_equal(fs_read(logged_path, 1 << 20, &text, NULL), 0);
    unlink(logged_path);
    if (strstr(buf_str(&text), want) == NULL)
        fail_msg("'%s' is not in the log:\n%s", want, buf_str(&text));
}

#endif
