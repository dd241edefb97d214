/* test_iptrules.c - rules from keywords, and what iptables-save 1.8.9 printed, as Salt 3006 has them. */
#include "unit/unit.h"

#include "plugins/lib/net/iptrules.h"

static void
test_rules(void **state)
{
    static const struct {
        const char *keywords, *rule;
    } rows[] = {
        { "{}", "" },
        { "{\"jump\": \"ACCEPT\", \"match\": \"state\", \"connstate\": \"NEW\", \"dport\": 22, \"proto\": \"tcp\"}",
          "-p tcp -m state --state NEW --dport 22 --jump ACCEPT" },
        { "{\"source\": \"not 10.0.0.1\", \"s\": \"!1.1.1.1\", \"syn\": null}",
          "! --source 10.0.0.1 ! -s 1.1.1.1 --syn" },
        { "{\"dports\": [22, \"!80\"], \"protocol\": \"udp\"}", "-p udp -m multiport ! --dports 22,80" },
        { "{\"dports\": [22, 80]}", "Error: protocol must be specified" },
        { "{\"comment\": \"a b\", \"log-prefix\": \"IN: \", \"jump\": \"LOG\"}",
          "-m comment --comment \"a b\" --jump LOG --log-prefix \"IN: \"" },
        { "{\"name\": \"n\", \"save\": true, \"order\": 5, \"__id__\": \"x\", \"target\": \"DROP\"}",
          "--jump DROP" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *keywords = json_loads(rows[i].keywords, 0, NULL);
        AUTO_FREE char *rule = ipt_rule(keywords);
        assert_string_equal(rule, rows[i].rule);
    }
}

static void
test_saved(void **state)
{
    static const char text[] =
        "# Generated\n*filter\n:INPUT ACCEPT [5:420]\n:X - [0:0]\n"
        "-A INPUT ! -s 10.0.0.0/8 -p tcp -m multiport ! --dports 80,443 -j DROP\n"
        "-A X -p tcp -m comment --comment \"a b\" -m tcp --tcp-flags FIN,SYN SYN -j X\nCOMMIT\n";
    fail_auto_t err = FAIL_INIT;
    json_auto_t *tables = ipt_saved(text, &err), *all = ipt_all_rules(tables);
    json_auto_t *want = json_loads(
        "[[{\"protocol\": [\"tcp\"], \"source\": [\"! 10.0.0.0/8\"], \"jump\": [\"DROP\"], \"match\": [\"multiport\"],"
        " \"destination-ports\": [\"! 80,443\"]}], [{\"protocol\": [\"tcp\"], \"jump\": [\"X\"], \"match\": "
        "[\"comment\", \"tcp\"], \"comment\": [\"a b\"], \"tcp-flags\": [\"FIN,SYN SYN\"]}]]",
        0, NULL);

    assert_true(json_equal(all, want));
    assert_string_equal(value_str(value_path(tables, "filter:INPUT", ":"), "byte count", ""), "420");
    assert_non_null(value_path(tables, "filter:X:rules_comment:a b", ":"));
}

/* Lines that iptables-save does not print. */
static void
test_refused(void **state)
{
    static const char *const texts[] = { ":INPUT ACCEPT [0:0]\n",
                                         "*filter\n:INPUT ACCEPT\n",
                                         "*filter\n:INPUT\n:\n",
                                         "*filter\n-A INPUT -j DROP\n",
                                         "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT --comment \"open\n",
                                         "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT --ct 1\n",
                                         "*filter\n:I A []\n" };

    for (size_t i = 0; i < NELEMS(texts); i++) {
        fail_auto_t err = FAIL_INIT;
        assert_null(ipt_saved(texts[i], &err));
        assert_int_not_equal(err.code, 0);
    }
}

UNIT_MAIN(cmocka_unit_test(test_rules), cmocka_unit_test(test_saved), cmocka_unit_test(test_refused))
