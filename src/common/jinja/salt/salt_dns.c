/* salt_dns.c - Salt's filter `dns_check`: the address of a host that accepts connections, else its first
 * address. Blocks up to CONNECT_MS for each address. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include "common/jinja/salt/salt_filter.h"

enum { CONNECT_MS = 2000 };

static const py_exc_t system_exit = { "SaltSystemExit", NULL };
static const py_exc_t client_error = { "SaltClientError", NULL };

/* True when a TCP connection to the address succeeds within CONNECT_MS. */
static bool
salt_dns_answers(const struct addrinfo *ai)
{
    int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    int rc = connect(fd, ai->ai_addr, ai->ai_addrlen), problem = 0;
    if (rc < 0 && errno == EINPROGRESS) {
        struct pollfd p = { fd, POLLOUT, 0 };
        socklen_t n = sizeof(problem);
        rc = poll(&p, 1, CONNECT_MS) == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &n) == 0 &&
                     problem == 0
                 ? 0
                 : -1;
    }
    close(fd);
    return rc == 0;
}

/* Text of an address as in URLs, version 6 in brackets. NEW. */
static py_t *
salt_dns_address(const struct addrinfo *ai)
{
    char host[INET6_ADDRSTRLEN] = "";
    if (ai->ai_family == AF_INET6) {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *) ai->ai_addr)->sin6_addr, host, sizeof(host));
        return py_strf("[%s]", host);
    }
    inet_ntop(AF_INET, &((const struct sockaddr_in *) ai->ai_addr)->sin_addr, host, sizeof(host));
    return py_strz(host);
}

/* First address that accepts a connection, else the first one. NEW; NULL: none. */
static py_t *
salt_dns_resolve(const char *name, const char *port, int family)
{
    const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
    struct addrinfo *all = NULL;
    if (getaddrinfo(name, port, &hints, &all) != 0)
        return NULL;
    const struct addrinfo *chosen = NULL;
    for (const struct addrinfo *ai = all; ai != NULL && chosen == NULL; ai = ai->ai_next)
        chosen = salt_dns_answers(ai) ? ai : NULL;
    py_t *found = all != NULL ? salt_dns_address(chosen != NULL ? chosen : all) : NULL;
    freeaddrinfo(all);
    return found;
}

static py_t *
bad_address(py_t *addr)
{
    AUTO(py) shown = py_tostr(addr);
    return shown != NULL
               ? py_raise(&system_exit,
                          "Attempt to resolve address '%s' failed. Invalid or unresolveable address",
                          py_cstr(shown))
               : NULL;
}

JFILTER(dns_check)
{
    int64_t port;
    int safe = jflag(a[2], false);
    int ipv6 = a[3] == NULL || py_is(a[3], PY_NONE) ? -1 : py_truth(a[3]);
    if (safe < 0 || py_raised() != NULL)
        return NULL;
    if (!py_is(a[0], PY_STR) || !py_to_int64(a[1], &port))
        return bad_address(a[0]);
    char service[24];
    snprintf(service, sizeof(service), "%lld", (long long) port);
    py_t *found = salt_dns_resolve(py_cstr(a[0]), service,
                                   ipv6 > 0    ? AF_INET6
                                   : ipv6 == 0 ? AF_INET
                                               : AF_UNSPEC);
    /* A host requested with IPv6 may have an IPv4 address only. */
    if (found == NULL && ipv6 > 0)
        found = salt_dns_resolve(py_cstr(a[0]), service, AF_INET);
    if (found != NULL)
        return found;
    return py_raise(safe ? &client_error : &system_exit, "DNS lookup or connection check of '%s' failed.",
                    py_cstr(a[0]));
}

static const jfilter_t rows[] = {
    { JROW("dns_check", dns_check, JP("addr", "port", "safe", "ipv6"), 2, 4, 0), JF_WORLD,
      "The address of a host that answers." },
};

const jfilter_table_t jfilters_salt_dns = JTABLE(rows);
