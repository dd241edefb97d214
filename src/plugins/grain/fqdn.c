/* fqdn.c - grains that the name service knows: fqdn, host, domain, fqdn_ip4, fqdn_ip6, fqdns. May take long,
 * as each look-up may wait for a server. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "common/base/str.h"
#include "salt/plugin.h"

/* As many as wait at the same time; each has at most one question open. */
enum { LOOKUP_THREADS = 8 };

/* Addresses of a name, each once. NEW; empty when it can't be resolved. */
static json_t *
fqdn_addresses_of(const char *name, int family)
{
    struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM }, *found = NULL;
    json_t *list = json_array();
    char text[NI_MAXHOST];

    if (getaddrinfo(name, NULL, &hints, &found) != 0)
        return list;
    for (const struct addrinfo *i = found; i != NULL; i = i->ai_next) {
        if (getnameinfo(i->ai_addr, i->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0 &&
            !value_lists(list, text))
            json_array_append_new(list, json_string(text));
    }
    freeaddrinfo(found);
    return list;
}

/* ---- fqdns: the names of all addresses, asked for side by side because each may take its time ---- */

typedef struct lookup {
    struct sockaddr_storage addr;
    socklen_t len;
    char *name; /* NULL when there is none */
} lookup_t;

typedef struct lookups {
    lookup_t *items;
    size_t n;
    atomic_size_t next;
} lookups_t;

/* A thread: takes the next address that no thread has taken yet, until there is none. */
static void *
fqdn_look_up(void *cookie)
{
    lookups_t *all = cookie;
    char name[NI_MAXHOST];
    size_t i;

    while ((i = atomic_fetch_add(&all->next, 1)) < all->n) {
        lookup_t *one = &all->items[i];
        if (getnameinfo((struct sockaddr *) &one->addr, one->len, name, sizeof(name), NULL, 0, NI_NAMEREQD) ==
            0) {
            /* The full form of a name when the name service has one. */
            struct addrinfo hints = { .ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM }, *found = NULL;
            char *full = NULL;

            if (strchr(name, '.') == NULL && getaddrinfo(name, NULL, &hints, &found) == 0) {
                if (found != NULL && !str_empty(found->ai_canonname))
                    full = xstrdup(found->ai_canonname);
                freeaddrinfo(found);
            }
            one->name = full != NULL ? full : xstrdup(name);
        }
    }
    return NULL;
}

/* Names of all addresses, sorted, each once. Threads that can't be started are done without. NEW. */
static json_t *
fqdn_names_of(lookups_t *all)
{
    pthread_t threads[LOOKUP_THREADS];
    size_t started = 0, n = 0;
    AUTO_FREE char **names = xcalloc(all->n + 1, sizeof(*names));
    json_t *list = json_array();

    /* This thread works along with the others, so that no thread at all is enough. */
    while (started < LOOKUP_THREADS && started < all->n &&
           pthread_create(&threads[started], NULL, fqdn_look_up, all) == 0)
        started++;
    fqdn_look_up(all);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < all->n; i++) {
        if (all->items[i].name != NULL)
            names[n++] = all->items[i].name;
    }
    qsort(names, n, sizeof(*names), str_by_text);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !str_eq(names[i], names[i - 1]))
            json_array_append_new(list, value_utf8(names[i], strlen(names[i])));
    }
    return list;
}

/* The host's own name first: the addresses are looked up by it. */
static int
fqdn_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    /* The canonical name of this host, or its own name when nobody knows it. */
    struct addrinfo hints = { .ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM }, *answer = NULL;
    char name[256] = "";
    char *canonical = NULL;
    gethostname(name, sizeof(name) - 1);
    if (name[0] != '\0' && getaddrinfo(name, NULL, &hints, &answer) == 0) {
        if (answer != NULL && !str_empty(answer->ai_canonname))
            canonical = xstrdup(answer->ai_canonname);
        freeaddrinfo(answer);
    }
    AUTO_FREE char *fqdn = canonical != NULL ? canonical
                                             : xstrdup(name[0] != '\0' ? name : "localhost.localdomain");
    const char *dot = strchr(fqdn, '.');
    lookups_t all = { NULL, 0, 0 };
    bool v4 = false, v6 = false;

    json_object_set_new(out, "fqdn", value_utf8(fqdn, strlen(fqdn)));
    json_object_set_new(out, "host", value_utf8(fqdn, strcspn(fqdn, ".")));
    json_object_set_new(out, "domain", dot != NULL ? value_utf8(dot + 1, strlen(dot + 1)) : json_string(""));

    /* Addresses of all interfaces but loopback ones; the flags tell which families there are. */
    struct ifaddrs *found = NULL;

    if (getifaddrs(&found) >= 0) {
        for (const struct ifaddrs *i = found; i != NULL; i = i->ifa_next) {
            int family = i->ifa_addr != NULL ? i->ifa_addr->sa_family : AF_UNSPEC;
            if (family != AF_INET && family != AF_INET6)
                continue;
            *(family == AF_INET ? &v4 : &v6) = true;
            if ((i->ifa_flags & IFF_LOOPBACK) != 0)
                continue;
            all.items = xrealloc(all.items, (all.n + 1) * sizeof(*all.items));
            lookup_t *one = &all.items[all.n++];
            memset(one, 0, sizeof(*one));
            one->len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
            memcpy(&one->addr, i->ifa_addr, one->len);
        }
        freeifaddrs(found);
    }

    json_object_set_new(out, "fqdn_ip4", v4 ? fqdn_addresses_of(fqdn, AF_INET) : json_array());
    json_object_set_new(out, "fqdn_ip6", v6 ? fqdn_addresses_of(fqdn, AF_INET6) : json_array());
    json_object_set_new(out, "fqdns",
                        value_bool(ctx->opts, "enable_fqdns_grains", true) ? fqdn_names_of(&all)
                                                                           : json_array());
    for (size_t i = 0; i < all.n; i++)
        free(all.items[i].name);
    free(all.items);
    return 0;
}

static const char *const keys[] = { "fqdn", "host", "domain", "fqdn_ip4", "fqdn_ip6", "fqdns", NULL };

PLUGIN(grain, fqdn, .doc = "This host's names and addresses in the name service.", .collect = fqdn_collect,
       .cost = GRAIN_SLOW, .keys = keys);
