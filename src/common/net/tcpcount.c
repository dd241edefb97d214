/* tcpcount.c - see tcpcount.h. The kernel's own header is newer than the C library's, and the two can't meet. */
#include "common/net/tcpcount.h"

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
