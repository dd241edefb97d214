/* ipcidr.c - addresses and networks against the grains ipv4 and ipv6.
 *
 * Parsed once to an address in network order and a prefix length; matching compares whole bytes, then the
 * remaining bits. As in Python's ip_network(strict=True), host bits are refused. inet_pton only: no scopes,
 * no short forms. */
#include <arpa/inet.h>

#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/patterns.h"
#include "salt/value.h"

static unsigned
family_bits(int family)
{
    return family == AF_INET ? 32 : 128;
}

/* Netmask ("255.255.0.0") or hostmask ("0.0.255.255") to a prefix length, as Python's ipaddress accepts both.
 */
static bool
parse_mask(const char *text, unsigned *ret_bits)
{
    uint8_t raw[16];

    if (inet_pton(AF_INET, text, raw) != 1)
        return false;
    uint32_t mask = (uint32_t) raw[0] << 24 | (uint32_t) raw[1] << 16 | (uint32_t) raw[2] << 8 | raw[3];
    if ((mask & 0x80000000U) == 0 && mask != 0)
        mask = ~mask;
    unsigned bits = mask == 0 ? 0 : 32 - (unsigned) __builtin_ctz(mask);
    *ret_bits = bits;
    return mask == (bits == 0 ? 0 : ~0U << (32 - bits));
}

/* An address is a network of one. 0, or -EINVAL with *err. */
int
cidr_parse(cidr_t *self, const char *text, fail_t *err)
{
    const char *slash = strchr(text, '/');
    AUTO_FREE char *address = slash != NULL ? xstrndup(text, (size_t) (slash - text)) : xstrdup(text);

    memset(self, 0, sizeof(*self));
    self->family = inet_pton(AF_INET, address, self->addr) == 1    ? AF_INET
                   : inet_pton(AF_INET6, address, self->addr) == 1 ? AF_INET6
                                                                   : AF_UNSPEC;
    if (self->family == AF_UNSPEC)
        return fail_set(err, -EINVAL, "\"%.100s\" is neither an IP address nor a network like 10.0.0.0/8",
                        text);
    self->bits = family_bits(self->family);
    if (slash == NULL)
        return 0;
    long long bits;
    if (str_to_int(slash + 1, 0, family_bits(self->family), &bits))
        self->bits = (unsigned) bits;
    else if (self->family != AF_INET || !parse_mask(slash + 1, &self->bits))
        return fail_set(err, -EINVAL, "\"%.100s\": \"%.50s\" is not a prefix length", text, slash + 1);

    for (unsigned bit = self->bits; bit < family_bits(self->family); bit++) {
        if ((self->addr[bit / 8] >> (7 - bit % 8) & 1) != 0)
            return fail_set(err, -EINVAL,
                            "\"%.100s\" has bits set after its prefix: write the network's own address",
                            text);
    }

    return 0;
}

/* True when one of the grain's addresses of the network's family lies in it; each address costs a step of
 * work. */
bool
cidr_match(const cidr_t *self, const json_t *grains, match_work_t *work)
{
    size_t i;
    json_t *item, *list = value_get(grains, self->family == AF_INET ? "ipv4" : "ipv6");

    json_array_foreach (list, i, item) {
        uint8_t addr[16];
        if (!match_work_take(work, 1))
            return false;
        if (!json_is_string(item) || inet_pton(self->family, json_string_value(item), addr) != 1)
            continue;
        unsigned whole = self->bits / 8, rest = self->bits % 8;
        if (memcmp(self->addr, addr, whole) == 0 &&
            (rest == 0 || (self->addr[whole] ^ addr[whole]) >> (8 - rest) == 0))
            return true;
    }
    return false;
}

bool
match_ipcidr(const char *cidr, const json_t *grains)
{
    cidr_t parsed;

    return cidr_parse(&parsed, cidr, NULL) == 0 && cidr_match(&parsed, grains, NULL);
}
