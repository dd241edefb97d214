/* test_memory.c - memory that is gone ends a process, but not a parser of what a peer sent; a process that
 * rests is smaller, and works as before. */
#include "common/base/memory.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "salt/value.h"
#include "unit/unit.h"

#define MORE_THAN_THERE_IS (SIZE_MAX / 8)

/* Kilobytes of files' pages that this process has mapped. */
static long
mapped_kb(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    long kb = -1;

    assert_non_null(f);
    while (kb < 0 && fgets(line, sizeof(line), f))
        if (strncmp(line, "RssFile:", 8) == 0)
            kb = strtol(line + 8, NULL, 10);
    (void) fclose(f);
    return kb;
}

static void
test_rest(void **state)
{
    AUTO_FREE char *text = xstrdup("kept");
    long before = mapped_kb();

    for (int i = 0; i < 3; i++) {
        memory_rest();
        assert_in_range(mapped_kb(), 1, before - 1);
        assert_string_equal(text, "kept");
    }
}

static void
test_gone(void **state)
{
    int status;

    SKIP_CHECKED(); /* a sanitizer ends the process itself */
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDERR_FILENO);
        memory_begin();
        (void) json_stringn_nocheck("", MORE_THAN_THERE_IS);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_NO_MEMORY);
}

static void
test_spared(void **state)
{
    SKIP_CHECKED();
    memory_begin();
    memory_spare();
    assert_null(json_stringn_nocheck("", MORE_THAN_THERE_IS));
    assert_true(memory_end_spare());
    memory_spare();
    json_auto_t *fits = json_string("fits");
    assert_false(memory_end_spare());
    assert_non_null(fits);
    buf_auto_t b = BUF_INIT;
    assert_true(buf_offer(&b, "kept", 4));
    assert_false(buf_offer(&b, "", MORE_THAN_THERE_IS));
    assert_true(buf_offer(&b, " too", 4));
    assert_string_equal(buf_str(&b), "kept too");
}

/* What lay in a value is nowhere once the value is freed. Looked at from outside, as nobody may read it
 * any more. */
static void
test_wiped(void **state)
{
    char secret[] = "a password that is long enough to be more than what an allocator keeps of a free block",
         seen[sizeof(secret)];

    SKIP_CHECKED();
    memory_begin();
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    assert_true(memory >= 0);
    json_t *value = json_string(secret);
    off_t at = (off_t) (uintptr_t) json_string_value(value);
    assert_int_equal(pread(memory, seen, sizeof(seen), at), sizeof(seen));
    assert_memory_equal(seen, secret, sizeof(secret));
    json_decref(value);
    assert_int_equal(pread(memory, seen, sizeof(seen), at), sizeof(seen));
    assert_null(memmem(seen, sizeof(seen), "password", 8));
    assert_null(memmem(seen, sizeof(seen), "block", 5));
    (void) close(memory);
}

UNIT_MAIN(cmocka_unit_test(test_gone), cmocka_unit_test(test_wiped), cmocka_unit_test(test_spared),
          cmocka_unit_test(test_rest))
