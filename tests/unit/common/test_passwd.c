/* test_passwd.c - users and groups, from many threads. */
#include "unit/unit.h"

#include <pthread.h>

#include "common/host/passwd.h"

#define THREADS 4
#define ROUNDS  500

static void
test_lookups(void **state)
{
    passwd_space_auto_t space = { 0 };
    for (int i = 0; i < 100; i++) {
        assert_string_equal(passwd_uid(&space, 0)->pw_name, "root");
        assert_int_equal(passwd_user(&space, "root")->pw_uid, 0);
        assert_string_equal(passwd_gid(&space, 0)->gr_name, "root");
        assert_int_equal(passwd_group(&space, "root")->gr_gid, 0);
        assert_null(passwd_user(&space, "nobody-has-this-name"));
        assert_null(passwd_group(&space, ""));
    }
    assert_true(space.size < 100000);
}

static void
count_user(const struct passwd *user, void *cookie)
{
    *(int *) cookie += user->pw_uid == 0 && strcmp(user->pw_name, "root") == 0;
}

static void
count_group(const struct group *group, void *cookie)
{
    *(int *) cookie += group->gr_gid == 0;
}

/* Each sees its own user and no other's. */
static void *
look(void *arg)
{
    static const char *const names[] = { "root", "daemon", "bin", "sys" };
    const char *name = names[*(int *) arg];
    size_t wrong = 0;

    for (int i = 0; i < ROUNDS; i++) {
        passwd_space_auto_t space = { 0 };
        int roots = 0;
        const struct passwd *pw = passwd_user(&space, name);
        wrong += pw == NULL || strcmp(pw->pw_name, name) != 0;
        if (i % 10 == 0) {
            passwd_each_user(count_user, &roots);
            wrong += roots != 1;
        }
    }
    return (void *) wrong;
}

static void
test_threads(void **state)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], roots = 0;
    void *wrong;

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, look, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    passwd_each_group(count_group, &roots);
    assert_int_equal(roots, 1);
}

UNIT_MAIN(cmocka_unit_test(test_lookups), cmocka_unit_test(test_threads))
