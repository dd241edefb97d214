/* debcheck.c - the options of /etc/network/interfaces that Salt knows, and the values that each may have. The
 * rows are Salt's; an option that has two rows is checked by that of its family. */
#include <arpa/inet.h>
#include <ctype.h>

#include "common/base/str.h"
#include "plugins/lib/net/debiface.h"

typedef enum check_kind {
    ANY,
    ONE_OF,
    UP_TO,
    ADDRESS4,
    ADDRESS6,
    MAC,
    INT,
    FLOAT,
    MASK4,
    MASK6,
    WORDS
} check_kind_t;

enum { FAMILY_4 = 1, FAMILY_6 = 2, FAMILY_ANY = 3 };

typedef struct check_row {
    const char *option;
    unsigned families;
    check_kind_t kind;
    const char *words; /* of ONE_OF, with a blank around each */
    int most;          /* of UP_TO and lengths of masks */
} check_row_t;

/* Names as users write them in states; debiface_text() has the words of the file. */
static const check_row_t check_rows[] = {
    { "proto", FAMILY_4, ONE_OF, " bootp dhcp static manual loopback ppp ", 0 },
    { "proto", FAMILY_6, ONE_OF, " auto loopback static manual dhcp v4tunnel 6to4 ", 0 },
    { "address", FAMILY_4, ADDRESS4, NULL, 0 },
    { "address", FAMILY_6, ADDRESS6, NULL, 0 },
    { "addresses", FAMILY_ANY, ANY, NULL, 0 },
    { "netmask", FAMILY_4, MASK4, NULL, 32 },
    { "netmask", FAMILY_6, MASK6, NULL, 128 },
    { "broadcast", FAMILY_4, ADDRESS4, NULL, 0 },
    { "broadcast", FAMILY_6, ADDRESS6, NULL, 0 },
    { "metric", FAMILY_4, INT, NULL, 0 },
    { "gateway", FAMILY_4, ADDRESS4, NULL, 0 },
    { "gateway", FAMILY_6, ADDRESS6, NULL, 0 },
    { "pointopoint", FAMILY_4, ADDRESS4, NULL, 0 },
    { "hwaddress", FAMILY_ANY, MAC, NULL, 0 },
    { "mtu", FAMILY_ANY, INT, NULL, 0 },
    { "scope", FAMILY_4, ONE_OF, " global link host ", 0 },
    { "scope", FAMILY_6, ONE_OF, " global site link host ", 0 },
    { "hostname", FAMILY_4, ANY, NULL, 0 },
    { "leasehours", FAMILY_4, INT, NULL, 0 },
    { "leasetime", FAMILY_4, INT, NULL, 0 },
    { "vendor", FAMILY_4, ANY, NULL, 0 },
    { "client", FAMILY_4, ANY, NULL, 0 },
    { "bootfile", FAMILY_4, ANY, NULL, 0 },
    { "server", FAMILY_4, ADDRESS4, NULL, 0 },
    { "hwaddr", FAMILY_4, MAC, NULL, 0 },
    { "mode", FAMILY_ANY, ONE_OF, " gre GRE ipip IPIP 802.3ad ", 0 },
    { "endpoint", FAMILY_ANY, ADDRESS4, NULL, 0 },
    { "dstaddr", FAMILY_4, ADDRESS4, NULL, 0 },
    { "local", FAMILY_ANY, ADDRESS4, NULL, 0 },
    { "ttl", FAMILY_ANY, INT, NULL, 0 },
    { "slaves", FAMILY_ANY, ANY, NULL, 0 },
    { "provider", FAMILY_4, ANY, NULL, 0 },
    { "unit", FAMILY_4, INT, NULL, 0 },
    { "options", FAMILY_4, ANY, NULL, 0 },
    { "privext", FAMILY_6, UP_TO, NULL, 2 },
    { "dhcp", FAMILY_6, UP_TO, NULL, 1 },
    { "media", FAMILY_6, ANY, NULL, 0 },
    { "accept_ra", FAMILY_6, UP_TO, NULL, 2 },
    { "autoconf", FAMILY_6, UP_TO, NULL, 1 },
    { "preferred-lifetime", FAMILY_6, INT, NULL, 0 },
    { "dad-attempts", FAMILY_6, INT, NULL, 0 },
    { "dad-interval", FAMILY_6, FLOAT, NULL, 0 },
    { "dns-nameservers", FAMILY_ANY, WORDS, NULL, 0 },
    { "dns-search", FAMILY_ANY, WORDS, NULL, 0 },
    { "vlan-raw-device", FAMILY_ANY, ANY, NULL, 0 },
    { "network", FAMILY_4, ANY, NULL, 0 },
    { "test", FAMILY_ANY, ANY, NULL, 0 },
    { "enable_ipv4", FAMILY_ANY, ANY, NULL, 0 },
    { "enable_ipv6", FAMILY_ANY, ANY, NULL, 0 },
    { "wireless-essid", FAMILY_ANY, ANY, NULL, 0 },
    { "wireless-mode", FAMILY_ANY, ANY, NULL, 0 },
    { "wpa-ap-scan", FAMILY_ANY, UP_TO, NULL, 2 },
    { "wpa-conf", FAMILY_ANY, ANY, NULL, 0 },
    { "wpa-driver", FAMILY_ANY, ANY, NULL, 0 },
    { "wpa-group", FAMILY_ANY, ANY, NULL, 0 },
    { "wpa-key-mgmt", FAMILY_ANY, ANY, NULL, 0 },
    { "wpa-pairwise", FAMILY_ANY, ANY, NULL, 0 },
    { "wpa-psk", FAMILY_ANY, ANY, NULL, 0 },
    { "wpa-proto", FAMILY_ANY, ANY, NULL, 0 },
    { "wpa-roam", FAMILY_ANY, ANY, NULL, 0 },
    { "wpa-ssid", FAMILY_ANY, ANY, NULL, 0 },
};

/* An address, with the length of its network behind a slash or without. */
static bool
debcheck_is_address(const char *text, int family, int longest)
{
    uint8_t bytes[16];
    const char *slash = strrchr(text, '/');
    AUTO_FREE char *address = slash != NULL ? xstrndup(text, (size_t) (slash - text)) : xstrdup(text);
    long long bits = 0;

    return inet_pton(family, address, bytes) == 1 &&
           (slash == NULL || str_to_int(slash + 1, 1, longest, &bits));
}

/* Salt compares the parts of a mask as texts, from the left to the right. */
static bool
is_dotted_mask(const char *text)
{
    char **octets = str_split(text, ".", false);
    bool is = strv_len(octets) == 4 && debcheck_is_address(text, AF_INET, 32);

    for (size_t i = 0; is && i + 1 < 4; i++)
        is = strcmp(octets[i], octets[i + 1]) >= 0;
    strv_free(octets);
    return is;
}

/* Six parts of one or two digits, with the same separator between them. */
static bool
is_hardware_address(const char *text)
{
    char between = '\0';

    for (int part = 0; part < 6; part++) {
        size_t n = strspn(text, "0123456789abcdefABCDEF");
        if (n < 1 || n > 2)
            return false;
        text += n;
        if (part == 0 && strchr("-:.", *text) != NULL)
            between = *text;
        if (part < 5 && (between == '\0' || *text++ != between))
            return false;
    }
    return *text == '\0';
}

/* A list of words, of which a text has one or several. NEW, or NULL. */
static json_t *
debcheck_words(const json_t *value)
{
    char **words;
    json_t *list;

    if (!json_is_string(value))
        return value_truthy(value) && (json_is_array(value) || json_is_object(value))
                   ? json_incref((json_t *) value)
                   : NULL;
    words = str_split(json_string_value(value), " \t\r\n\v\f", true);
    list = words[0] != NULL ? json_array() : NULL;
    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, json_string(words[i]));
    strv_free(words);
    return list;
}

/* The value as the row takes it; NULL: not valid. NEW. */
static json_t *
checked(const check_row_t *row, const json_t *value)
{
    const char *text = json_string_value(value);
    json_int_t whole = 0;
    double number = 0;
    bool valid = false;

    switch (row->kind) {
    case ANY:
        valid = true;
        break;
    case ONE_OF: {
        AUTO_FREE char *given = value_pystr(value);
        AUTO_FREE char *word = xasprintf(" %s ", given);
        valid = strchr(given, ' ') == NULL && strstr(row->words, word) != NULL;
        break;
    }
    case ADDRESS4:
        valid = text != NULL && debcheck_is_address(text, AF_INET, 32);
        break;
    case ADDRESS6:
        valid = text != NULL && debcheck_is_address(text, AF_INET6, 128);
        break;
    case MAC:
        valid = text != NULL && is_hardware_address(text);
        break;
    case INT:
        return netword_int(value, &whole) ? json_integer(whole) : NULL;
    case UP_TO:
    case MASK4:
    case MASK6:
        if (netword_int(value, &whole) && whole >= 0 && whole <= row->most)
            return json_integer(whole);
        valid = row->kind == MASK4 && text != NULL && is_dotted_mask(text);
        break;
    case FLOAT:
        return netword_float(value, &number) ? json_real(number) : NULL;
    case WORDS:
        return debcheck_words(value);
    }
    return valid ? json_incref((json_t *) value) : NULL;
}

/* In whatever family. */
bool
debcheck_knows(const char *option)
{
    for (size_t i = 0; i < NELEMS(check_rows); i++) {
        if (strcmp(check_rows[i].option, option) == 0)
            return true;
    }
    return false;
}

/* The value as it is written, and whether it may be: an option that is unknown, or not of this family, stays
 * and is not valid. */
json_t *
debcheck_value(const char *option, const char *family, const json_t *value, bool *ret_valid)
{
    unsigned of = strcmp(family, "inet") == 0 ? FAMILY_4 : strcmp(family, "inet6") == 0 ? FAMILY_6 : 0;
    json_t *got = NULL;

    for (size_t i = 0; i < NELEMS(check_rows); i++) {
        if (strcmp(check_rows[i].option, option) == 0 && (check_rows[i].families & of) != 0)
            got = checked(&check_rows[i], value);
    }
    *ret_valid = got != NULL;
    return got != NULL ? got : json_incref((json_t *) value);
}
