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
        { "salted/x", true },
        { "minion_start", true },
        { "minion/x", true },
        { "keys", true },
        { "authority", true },
        { "my.fun", true },
        { "x//y", true },
        { "x/../y", true },
        { "salt/minion/web1/start", true },
        { "salt/minion/web1", true },
        { "salt/cloud/web1/deploy_script", true },
        { "salt/beacon/web1/diskusage//", true },
        { "salt/beacon/web1/inotify//etc/hosts", true },
        { "minion/refresh/web1", true },
        { "salt/job/20261120094220479060/at/web1", true },
        { "salt/job/20261120094220479060/prog/web1/3", true },
        { "salt/job/20261120094220479060_7/prog/web1/0", true },
        { "salt/state_result/20261120094220479060/web1/done", true },
        { "salt/state_result/20261120094220479060/web1//etc/hosts", true },
        { "2026112009422047906", true },
        { "salt/", false },
        { "salt//x", false },
        { "salt/x", false },
        { "salt/authority", false },
        { "salt/auth", false },
        { "salt/auth.", false },
        { "salt/authx/web1", false },
        { "salt/auth/x", false },
        { "salt/key", false },
        { "salt/keys", false },
        { "salt/keyx", false },
        { "salt/run", false },
        { "salt/run/20261120094220479060/ret", false },
        { "salt/wheel/20261120094220479060/new", false },
        { "salt/presence/change", false },
        { "salt/reactor/error", false },
        { "salt/gate/refused", false },
        { "salt/cloud/web2/destroyed", false },
        { "salt/cloud/web1", false },
        { "salt/minion", false },
        { "salt/minion/", false },
        { "salt/minion/web1/", false },
        { "salt/minion/web1//start", false },
        { "salt/minion/web10/start", false },
        { "salt/minion/web2/start", false },
        { "salt/minion/web1/../web2/start", false },
        { "salt/minion/../minion/web1/start", false },
        { "salt//minion/web1/start", false },
        { "salt/beacon/web2/diskusage//", false },
        { "salt/beacon/web1", false },
        { "salt/beacon/web1/..", false },
        { "salt/beacon/web1/../web2/x", false },
        { "minion/refresh/web2", false },
        { "minion/refresh", false },
        { "minion/refresh/web1/x", false },
        { "minion/refreshed", false },
        { "salt/job", false },
        { "salt/job/x", false },
        { "salt/job/20261120094220479060/new", false },
        { "salt/job/20261120094220479060/ret/web1", false },
        { "salt/job/20261120094220479060/at/web2", false },
        { "salt/job/20261120094220479060/at/web1/3", false },
        { "salt/job/20261120094220479060/prog/web2/3", false },
        { "salt/job/20261120094220479060/prog/web1", false },
        { "salt/job/20261120094220479060/prog/web1/", false },
        { "salt/job/20261120094220479060/prog/web1/new", false },
        { "salt/job/20261120094220479060/prog/web1/3/new", false },
        { "salt/job/20261120094220479060/prog/web1/ret/web2", false },
        { "salt/job/x/prog/web1/3", false },
        { "salt/job/20261120094220479060/sub/web1/error/state.sls", false },
        { "salt/state_result/20261120094220479060/web2/done", false },
        { "salt/state_result/20261120094220479060/web1", false },
        { "salt/state_result/20261120094220479060/web1/", false },
        { "salt/state_result/x/web1/done", false },
        { "key", false },
        { "auth", false },
        { "new_job", false },
        { "job", false },
        { "20261120094220479060", false },
        { "20261120094220479060/new", false },
        { "202611200942204790600", false },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        fail_auto_t err = FAIL_INIT;
        if (tags_of_minion(cases[i].tag, "web1", &err) != cases[i].own)
            fail_msg("%s should%s be a minion's own", cases[i].tag, cases[i].own ? "" : " not");
        assert_int_equal(err.code == 0, cases[i].own);
    }
}

UNIT_MAIN(cmocka_unit_test(test_whose))
