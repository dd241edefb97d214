/* received.c - see received.h. The kernel's own header is newer than the C library's, and the two can't meet. */
#include "common/net/received.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

uint64_t
received_bytes(int fd)
{
    struct tcp_info info = { 0 };
    socklen_t n = sizeof(info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 ? info.tcpi_bytes_received : 0;
}

char *
received_from(int fd)
{
    struct sockaddr_storage addr;
    socklen_t n = sizeof(addr);
    char host[NI_MAXHOST];
    if (getpeername(fd, (struct sockaddr *) &addr, &n) != 0 ||
        getnameinfo((struct sockaddr *) &addr, n, host, sizeof(host), NULL, 0, NI_NUMERICHOST) != 0)
        return xstrdup("(unknown)");
    return xstrdup(host);
}
