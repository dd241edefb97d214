/* test_nftrules.c - rules of nftables: what a value may hold, and the one form of equal rules, with the words in which nft
 * 1.0.6 lists what was added. */
#include "unit/unit.h"

#include "plugins/lib/net/nftrules.h"

/* What was added, and what nft lists. */
static void
test_form(void **state)
{
    static const char *const rows[][2] = {
        { "ct state { new } tcp dport { 22 } accept", "ct state new tcp dport 22 accept" },
        { "ct state { related,established } accept", "ct state { established, related } accept" },
        { "ct state related,established accept", "ct state established,related accept" },
        { "meta iifname lo ip saddr 10.1.2.3/24 accept", "iifname \"lo\" ip saddr 10.1.2.0/24 accept" },
        { "meta oifname eth0 ip daddr 0/0 tcp dport { 1025-65535 } accept",
          "oifname \"eth0\" ip daddr 0.0.0.0/0 tcp dport 1025-65535 accept" },
        { "ip saddr 10.0.0.1/32 counter accept", "ip saddr 10.0.0.1 counter packets 7 bytes 420 accept" },
        { "ip6 saddr 2001:DB8:0:0::1/64 accept", "ip6 saddr 2001:db8::/64 accept" },
        { "ip6 saddr 0:0::0/0 accept", "ip6 saddr ::/0 accept" },
        { "tcp dport { 443, 80, 22 } jump foo", "tcp dport { 22, 80, 443 } jump foo" },
        { "tcp dport != { 80,22 } drop", "tcp dport != { 22, 80 } drop" },
        { "meta iifname { lo, eth0 } accept", "iifname { \"lo\", \"eth0\" } accept" },
        { "reject with icmp type host-unreachable", "reject with icmp host-unreachable" },
        { "log prefix \"a; { b\" accept", "log  prefix \"a; { b\" accept" },
        { "tcp dport vmap { 80 : jump foo, 22 : accept }", "tcp dport vmap { 22 : accept, 80 : jump foo }" },
        { "ip saddr { 10.0.0.5, 10.0.0.1, 192.168.0.0/16 } accept",
          "ip saddr { 10.0.0.1, 10.0.0.5, 192.168.0.0/16 } accept" },
        { "ip saddr { 10.0.0.1, 10.9.9.9/8 } accept", "ip saddr { 10.0.0.0/8, 10.0.0.1 } accept" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *added = nft_form(rows[i][0]), *listed = nft_form(rows[i][1]);
        assert_string_equal(added, listed);
    }
}

static void
test_other_forms(void **state)
{
    static const char *const rows[][2] = {
        { "tcp dport 22 accept", "tcp dport 22 drop" },
        { "tcp dport { 22, 80 } accept", "tcp dport { 22, 81 } accept" },
        { "ip saddr 10.0.0.0/8 accept", "ip saddr 10.0.0.0/9 accept" },
        { "ip saddr 10.0.0.1 accept", "ip daddr 10.0.0.1 accept" },
        { "counter accept", "accept" },
        { "tcp dport 22 accept", "udp dport 22 accept" },
        { "tcp dport != 22 accept", "tcp dport 22 accept" },
        { "log prefix \"{ a\" accept", "log prefix \"{\" a accept" },
        { "log prefix \"a b\" accept", "log prefix a b accept" },
        { "", "accept" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *one = nft_form(rows[i][0]), *other = nft_form(rows[i][1]);
        assert_string_not_equal(one, other);
    }
}

static void
test_statement(void **state)
{
    static const char *const rows[][2] = {
        { " accept ", "accept" },
        { "log prefix \"a; b\" accept", "log prefix \"a; b\" accept" },
        { "log prefix \\\"a b\\\" accept", "log prefix \"a b\" accept" },
        { "log prefix 'a b' accept", "log prefix \"a b\" accept" },
        { "iifname \"lo\" accept", "iifname lo accept" },
        { "tcp dport \\{ 22 \\} accept", "tcp dport { 22 } accept" },
    };
    static const char *const refused[] = { "accept; drop",
                                           "accept\ndrop",
                                           "accept\rdrop",
                                           "accept # x",
                                           "accept }",
                                           "tcp dport { 22",
                                           "log prefix \"",
                                           "a \\; b",
                                           "log prefix 'a\"b' x",
                                           "log prefix \"a\nb\"",
                                           "accept $x",
                                           "} accept {",
                                           "log prefix \\\"a\"; b",
                                           "a\x01" };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *statement = nft_statement(rows[i][0], &err);
        assert_string_equal(statement, rows[i][1]);
    }
    for (size_t i = 0; i < NELEMS(refused); i++) {
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *statement = nft_statement(refused[i], &err);
        assert_null(statement);
        assert_non_null(strstr(fail_text(&err), "nftables: "));
    }
}

/* Whatever the bytes are, a statement that is taken has no end but its own: outside of quotes neither ";", a line break nor
 * "#", and braces in pairs. */
static void
test_any_bytes(void **state)
{
    static const char bytes[] = "a {}\"'\\;#\n\t, $-";
    unsigned seed = 7;

    for (int round = 0; round < 20000; round++) {
        char text[12] = { 0 };
        for (size_t i = 0; i < sizeof text - 1; i++)
            text[i] = bytes[(seed = seed * 1103515245U + 12345U) >> 16 & 15];
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *statement = nft_statement(text, &err);
        bool quoted = false;
        int depth = 0;
        for (const char *at = statement; at != NULL && *at != '\0'; at++) {
            quoted ^= *at == '"';
            assert_true(*at != '\n' && (quoted || strchr(";#$\\'", *at) == NULL));
            depth += quoted ? 0 : *at == '{' ? 1 : *at == '}' ? -1 : 0;
            assert_true(depth >= 0);
        }
        assert_true(!quoted && depth == 0);
        AUTO_FREE char *form = statement != NULL ? nft_form(statement) : NULL;
    }
}

static void
test_names(void **state)
{
    static const char *const good[] = { "", "filter", "a-b", "a.b/c", "_x" }, *const bad[] = {
        "-a", "a b", "a;b", "a\n", "{a}", "a\"", "a#", "\xc3\xa4"
    };
    fail_auto_t err = FAIL_INIT;

    for (size_t i = 0; i < NELEMS(good); i++)
        assert_int_equal(nft_need_name("table", good[i], &err), 0);
    for (size_t i = 0; i < NELEMS(bad); i++) {
        fail_auto_t why = FAIL_INIT;
        assert_true(nft_need_name("table", bad[i], &why) < 0);
    }
    assert_string_equal(nft_family("ip4", &err), "ip");
    assert_null(nft_family("IPV4", &err));
}

UNIT_MAIN(cmocka_unit_test(test_form), cmocka_unit_test(test_other_forms), cmocka_unit_test(test_statement),
          cmocka_unit_test(test_any_bytes), cmocka_unit_test(test_names))
