/* tcpcount.c - see tcpcount.h. Uses the kernel's header, which is newer than the C library's; the two
 * can't be included together. */
#include "common/net/tcpcount.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

bool
tcp_counts(int fd, tcp_counts_t *ret_counts)
{
    struct tcp_info info = { 0 };
    socklen_t n = sizeof(info);
    bool there = getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0;
    *ret_counts = (tcp_counts_t){ 0 };
    if (there)
        *ret_counts = (tcp_counts_t){ info.tcpi_bytes_received, info.tcpi_bytes_acked,
                                      info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0 };
    return there;
}

uint64_t
tcp_unread(const tcp_counts_t *counts, uint64_t slack, uint64_t *said)
{
    uint64_t unread = *said > counts->acked ? *said - counts->acked : 0;
    if (unread >= slack || !counts->idle)
        return unread;
    *said = counts->acked;
    return 0;
}

char *
tcp_address(int fd)
{
    struct sockaddr_storage addr;
    socklen_t n = sizeof(addr);
    char host[NI_MAXHOST];
    if (getpeername(fd, (struct sockaddr *) &addr, &n) != 0 ||
        getnameinfo((struct sockaddr *) &addr, n, host, sizeof(host), NULL, 0, NI_NUMERICHOST) != 0)
        return xstrdup("(unknown)");
    return xstrdup(host);
}

tcp_peer_t
tcp_peer(int fd)
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    tcp_peer_t out = { { 0 } };
    struct sockaddr_storage addr;
    socklen_t n = sizeof(addr);
    if (getpeername(fd, (struct sockaddr *) &addr, &n) != 0)
        return out;
    if (addr.ss_family == AF_INET6) {
        memcpy(out.bytes, &((struct sockaddr_in6 *) &addr)->sin6_addr, sizeof(out.bytes));
    } else if (addr.ss_family == AF_INET) {
        memcpy(out.bytes, mapped, sizeof(mapped));
        memcpy(out.bytes + sizeof(mapped), &((struct sockaddr_in *) &addr)->sin_addr, 4);
    }
    return out;
}

char *
tcp_peer_text(const tcp_peer_t *peer)
{
    struct in6_addr addr;
    char text[INET6_ADDRSTRLEN] = "";
    memcpy(&addr, peer->bytes, sizeof(addr));
    if (IN6_IS_ADDR_UNSPECIFIED(&addr))
        return xstrdup("(unknown)");
    if (IN6_IS_ADDR_V4MAPPED(&addr))
        (void) inet_ntop(AF_INET, peer->bytes + 12, text, sizeof(text));
    else
        (void) inet_ntop(AF_INET6, &addr, text, sizeof(text));
    return xstrdup(text);
}
