/* test_ddns.c - which whole name a name and a zone make. */
#include "unit/unit.h"

#include "runners/ddns.c"

static void
test_fqdn(void **state)
{
    static const struct {
        const char *name, *zone, *fqdn;
    } rows[] = {
        { "www", "example.com", "www.example.com" },
        { "www.example.com", "example.com", "www.example.com" },
        { "www.example.com.", "example.com", "www.example.com" },
        { "www.example.com", "example.com.", "www.example.com." },
        { "WWW.Example.COM", "example.com", "WWW.example.com" },
        { "a.b", "example.com", "a.b.example.com" },
        { "example.com", "example.com", "example.com" },
        { ".example.com", "example.com", "example.com" },
        { "9.7.168.192.in-addr.arpa.", "168.192.in-addr.arpa.", "9.7.168.192.in-addr.arpa." },
        /* The zone's letters elsewhere are the name's own. */
        { "wexample.comww", "example.com", "wexample.comww.example.com" },
        { "badexample.com", "example.com", "badexample.com.example.com" },
        { "www.example.com.evil", "example.com", "www.example.com.evil.example.com" },
        { "example.com.example.com", "example.com", "example.com.example.com" },
        { "www", "", "www." },
        { "", "example.com", "example.com" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *fqdn = fqdn_of(rows[i].name, rows[i].zone);
        assert_string_equal(fqdn, rows[i].fqdn);
    }
}

UNIT_MAIN(cmocka_unit_test(test_fqdn))
