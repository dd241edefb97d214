/* guesses.c - see guesses.h. */
#include "api/guesses.h"

#include "common/base/map.h"
#include "common/base/rate.h"

struct guesses {
    map_t *by_address;
};

guesses_t *
guesses_new(void)
{
    guesses_t *self = xcalloc(1, sizeof(*self));

    self->by_address = map_new(free);
    return self;
}

void
guesses_destroy(guesses_t **self_p)
{
    guesses_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    map_destroy(&self->by_address);
    free(self);
}

void
guesses_network(const char *address, char out[INET6_ADDRSTRLEN])
{
    struct in6_addr six;

    (void) snprintf(out, INET6_ADDRSTRLEN, "%.*s", INET6_ADDRSTRLEN - 1, address);
    if (inet_pton(AF_INET6, address, &six) != 1 || IN6_IS_ADDR_V4MAPPED(&six))
        return;
    memset(six.s6_addr + 8, 0, 8);
    (void) inet_ntop(AF_INET6, &six, out, INET6_ADDRSTRLEN);
}

bool
guesses_admit(guesses_t *self, const char *address, int64_t now_ms)
{
    char key[INET6_ADDRSTRLEN];

    guesses_network(address, key);
    rate_t *rate = map_get(self->by_address, key);
    if (rate == NULL) {
        /* Somebody with so many addresses starts afresh anyway. */
        if (map_len(self->by_address) >= GUESSES_MAX)
            map_clear(self->by_address);
        rate = xcalloc(1, sizeof(*rate));
        *rate = (rate_t) RATE(GUESSES_PER_S, GUESSES_BURST);
        map_set(self->by_address, key, rate);
    }
    return rate_spare(rate, now_ms);
}

void
guesses_pardon(guesses_t *self, const char *address)
{
    char key[INET6_ADDRSTRLEN];

    guesses_network(address, key);
    rate_t *rate = map_get(self->by_address, key);
    if (rate != NULL)
        rate_owe(rate, -1);
}

void
guesses_sign(json_t *login, const char *address)
{
    char key[INET6_ADDRSTRLEN];

    guesses_network(address, key);
    json_object_set_new(login, "from", json_string(key));
}
