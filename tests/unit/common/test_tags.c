/* test_tags.c - which events a minion may fire. */
#include "common/net/tags.h"
#include "unit/unit.h"

static void
test_whose(void **state)
{
    static const struct {
        const char *tag;
        bool own;
    } cases[] = {
        { "myapp/deploy/complete", true },
        { "salt", true },
        { "salt/authority", true },
        { "salt/auth", false },
        { "salt/auth/x", false },
        { "salt/key", false },
        { "salt/keys", true },
        { "salt/run/20261120094220479060/ret", false },
        { "salt/wheel/20261120094220479060/new", false },
        { "salt/presence/change", false },
        { "salt/reactor/error", false },
        { "salt/cloud/web1/deploy_script", true },
        { "salt/minion/web1/start", true },
        { "salt/minion/web1", true },
        { "salt/minion/web10/start", false },
        { "salt/minion/web2/start", false },
        { "salt/beacon/web1/diskusage//", true },
        { "salt/beacon/web2/diskusage//", false },
        { "minion/refresh/web1", true },
        { "minion/refresh/web2", false },
        { "salt/job/20261120094220479060/new", false },
        { "salt/job/20261120094220479060/ret/web1", false },
        { "salt/job/20261120094220479060/prog/web1/3", true },
        { "salt/job/20261120094220479060/prog/web2/3", false },
        { "salt/job/x", false },
        { "salt/state_result/20261120094220479060/web1/done", true },
        { "20261120094220479060", false },
        { "2026112009422047906", true },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        fail_auto_t err = FAIL_INIT;
        if (tags_of_minion(cases[i].tag, "web1", &err) != cases[i].own)
            fail_msg("%s should%s be a minion's own", cases[i].tag, cases[i].own ? "" : " not");
        assert_int_equal(err.code == 0, cases[i].own);
    }
}

UNIT_MAIN(cmocka_unit_test(test_whose))
