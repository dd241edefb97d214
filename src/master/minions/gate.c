/* gate.c - bound the descriptors and memory that unknown peers take at the minions' ports.
 *
 * Descriptors: libzmq spins when they run out, so strangers (connections without an accepted key) make room
 * before: the oldest silent one for each newcomer, then the oldest that is pending. A tenth is kept free: as
 * long as it lasts, an accepted minion finds a place and has time for its handshake.
 *
 * Memory: libzmq reads ahead of authentication, up to a whole frame, and more frames than the master has
 * looked at. The kernel counts the bytes received per connection (TCP_INFO); whenever the process has grown,
 * connections that hold more than their share are cut. */
#include "master/minions/gate.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/map.h"
#include "common/net/sock.h"
#include "common/net/tcpcount.h"
#include "master/events/bus.h"
#include "master/front/part.h"
#include "master/minions/refused.h"
#include "salt/log.h"

#define PRESSED_MS    3000 /* GATE_SILENT_MS once descriptors get scarce */
#define HANDSHAKE_MS  50
#define CHECK_MS      5000
#define SETTLE_MS     60000
#define SALT_AGAIN_MS 600000              /* before the same address is reported again */
#define WENT_MANY     64                  /* closed connections, after which free memory is returned */
#define STEP          1024                /* by which the table grows */
#define GROWN_BYTES   (32L * 1024 * 1024) /* growth of the process that triggers a check */
#define SMALL_BYTES   (1024 * 1024)       /* normal backlog: pings and messages in flight */
/* Descriptors reserved for operators, runners and the store: a share of all, within bounds. */
#define RESERVE_SHARE 25
#define RESERVE_MIN   256
#define RESERVE_MAX   4096

/* Percentages of the descriptors for connections: from PRESSED_AT on unknown keys are turned away and
 * strangers get less time, at SCARCE_AT hardly any, at FULL_AT a pending one goes for each newcomer. A door
 * opens again DOOR_SLACK below where it closed. */
#define PRESSED_AT 90
#define SCARCE_AT  95
#define FULL_AT    98
#define DOOR_SLACK 2

/* Stage of a connection. Connections of the first two are strangers, listed by age. */
typedef enum stage { STAGE_SILENT, STAGE_SPOKEN, STAGE_ACCEPTED, STAGE_CUT } stage_t;
#define STRANGERS 2

typedef struct door_line {
    int64_t since_ms; /* monotonic */
    uint64_t taken;   /* bytes of messages looked at */
    uint64_t said;    /* bytes of messages sent */
    int prev, next;   /* list of its stage, by age; -1: none */
    uint8_t ports;    /* a bit per open port: the ports' monitors are not in order with each other */
    stage_t stage;
    tcp_peer_t from;
} door_line_t;

typedef struct time_box {
    int64_t ms; /* monotonic */
} time_box_t;

typedef struct gate {
    door_line_t *lines; /* indexed by descriptor */
    int n_lines;
    struct {
        int first, last; /* -1: none */
        long n;
    } strangers[STRANGERS];
    long open, cut, limit; /* connections; those cut but not gone yet; their limit */
    long reserve;          /* descriptors reserved for others */
    long went;             /* closed since memory was returned */
    int64_t check_next_ms, settle_next_ms;
    uint8_t mismatched; /* a bit per port: the next connection to end there failed by its mechanism */
    map_t *salted;      /* address -> time_box_t: last report of a Salt minion */
    zap_door_t door, told;
    bool full; /* LIMIT_PENDING_KEYS keys are pending */
    bool told_full;
    rate_t tells;
    int statm; /* descriptor of /proc/self/statm */
    long calm; /* size of the process when all was last well */
    long page;
} gate_t;

static gate_t *
gate_own(const front_t *front)
{
    return front->own[PART_gate];
}

long
gate_reserve(const front_t *front)
{
    return gate_own(front)->reserve;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The entry of a descriptor; grows the table. NULL for -1. */
static door_line_t *
gate_line(gate_t *self, int fd)
{
    if (fd < 0)
        return NULL;
    if (fd >= self->n_lines) {
        int n = fd + STEP;
        self->lines = xrealloc(self->lines, (size_t) n * sizeof(*self->lines));
        memset(self->lines + self->n_lines, 0, (size_t) (n - self->n_lines) * sizeof(*self->lines));
        self->n_lines = n;
    }
    return &self->lines[fd];
}

static void
unlist(gate_t *self, int fd)
{
    door_line_t *line = &self->lines[fd];
    if (line->stage >= STRANGERS)
        return;
    if (line->prev >= 0)
        self->lines[line->prev].next = line->next;
    else
        self->strangers[line->stage].first = line->next;
    if (line->next >= 0)
        self->lines[line->next].prev = line->prev;
    else
        self->strangers[line->stage].last = line->prev;
    self->strangers[line->stage].n--;
}

static void
gate_list(gate_t *self, int fd)
{
    door_line_t *line = &self->lines[fd];
    if (line->stage >= STRANGERS)
        return;
    line->next = -1;
    line->prev = self->strangers[line->stage].last;
    if (line->prev >= 0)
        self->lines[line->prev].next = fd;
    else
        self->strangers[line->stage].first = fd;
    self->strangers[line->stage].last = fd;
    self->strangers[line->stage].n++;
}

static void
gate_move(gate_t *self, int fd, stage_t stage)
{
    door_line_t *line = gate_line(self, fd);
    if (line == NULL || line->ports == 0 || line->stage == stage || line->stage == STAGE_CUT)
        return;
    unlist(self, fd);
    line->stage = stage;
    self->cut += stage == STAGE_CUT;
    gate_list(self, fd);
}

/* Shut the connection down. libzmq notices, closes it, and the monitor reports when the descriptor is free;
 * closing it here would free a number that libzmq still uses. */
static void
gate_own_cut(gate_t *self, int fd)
{
    gate_move(self, fd, STAGE_CUT);
    (void) shutdown(fd, SHUT_RDWR);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static long
gate_share(const gate_t *self, int hundredths)
{
    return self->limit * hundredths / 100;
}

static zap_door_t
gate_wanted(const gate_t *self)
{
    /* Hysteresis, or the door would swing with each connection. */
    long slack = gate_share(self, DOOR_SLACK), open = self->open - self->cut;
    long shut = self->limit - (self->door == ZAP_SHUT ? slack : 0);
    long known = gate_share(self, PRESSED_AT) - (self->door != ZAP_OPEN ? slack : 0);
    return open >= shut ? ZAP_SHUT : open >= known ? ZAP_KNOWN : ZAP_OPEN;
}

/* Tell the ZAP handler which keys may enter. */
static void
set_door(front_t *front)
{
    gate_t *self = gate_own(front);
    self->door = gate_wanted(self);
    zap_set_door(front->zap, self->door == ZAP_OPEN && self->full ? ZAP_KNOWN : self->door);
}

void
gate_full(front_t *front, bool full)
{
    gate_own(front)->full = full;
    set_door(front);
}

/* Report changes of the door: a few in a row, then the state after a while. */
static void
gate_tell(front_t *front, int64_t now_ms)
{
    static const char *const names[] = { [ZAP_OPEN] = "open", [ZAP_KNOWN] = "known", [ZAP_SHUT] = "shut" };
    gate_t *self = gate_own(front);
    if ((self->door == self->told && self->full == self->told_full) || !rate_spare(&self->tells, now_ms))
        return;
    if (self->door > self->told)
        log_error("%ld connections are open and the limit of open files allows %ld: %s are turned away; "
                  "raise the limit (LimitNOFILE, max_open_files)",
                  self->open, self->limit, self->door == ZAP_SHUT ? "new peers" : "unknown minions");
    else if (self->door < self->told)
        log_warning("%ld connections are open: %s", self->open,
                    self->door == ZAP_OPEN ? "unknown minions may come again"
                                           : "known minions may come again");
    self->told = self->door;
    self->told_full = self->full;
    json_t *data = json_pack("{s:s, s:b, s:I, s:I, s:I, s:I}", "door", names[self->door], "pending_full",
                             self->told_full, "open", (json_int_t) self->open, "limit",
                             (json_int_t) self->limit, "silent", (json_int_t) self->strangers[STAGE_SILENT].n,
                             "waiting", (json_int_t) self->strangers[STAGE_SPOKEN].n);
    (void) bus_fire(front, "salt/gate/door", &data);
}

/* How long a stranger may be silent: less as descriptors get scarce, but enough for a handshake, and nothing
 * at the limit. */
static int64_t
gate_patience(const gate_t *self)
{
    long first = gate_share(self, PRESSED_AT), last = gate_share(self, SCARCE_AT),
         open = self->open - self->cut;
    int64_t pressed = PRESSED_MS * (last - open) / (last - first + 1);
    if (open <= first)
        return GATE_SILENT_MS;
    return open >= self->limit ? 0 : pressed > HANDSHAKE_MS ? pressed : HANDSHAKE_MS;
}

void
gate_connected(front_t *front, port_t port, int fd)
{
    gate_t *self = gate_own(front);
    door_line_t *line = gate_line(self, fd);
    if (line == NULL)
        return;
    self->open += !(line->ports & 1u << port);
    if (line->ports) {
        unlist(self, fd);
        self->cut -= line->stage == STAGE_CUT;
    }
    *line = (door_line_t){ .since_ms = clock_mono_ms(),
                           .ports = (uint8_t) (line->ports | 1u << port),
                           .stage = STAGE_SILENT,
                           .from = tcp_peer(fd) };
    gate_list(self, fd);
    if (self->door != ZAP_OPEN) {
        /* Make room for one more: the oldest silent strangers go, pending ones last. */
        int64_t now = clock_mono_ms();
        int oldest;
        while ((oldest = self->strangers[STAGE_SILENT].first) >= 0 && oldest != fd &&
               now - self->lines[oldest].since_ms >= gate_patience(self))
            gate_own_cut(self, oldest);
        if (self->open - self->cut > gate_share(self, FULL_AT) && self->strangers[STAGE_SPOKEN].first >= 0)
            gate_own_cut(self, self->strangers[STAGE_SPOKEN].first);
    }
    if (gate_wanted(self) != self->door)
        set_door(front);
    /* At the limit even a newcomer's handshake might take the last descriptor. */
    if (self->door == ZAP_SHUT)
        gate_own_cut(self, fd);
}

void
gate_handshake_failed(front_t *front, port_t port, int error)
{
    if (error == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
        gate_own(front)->mismatched |= (uint8_t) (1u << port);
}

/* Salt's minions reconnect every few seconds for ever: report an address once per SALT_AGAIN_MS. */
static bool
told_lately(gate_t *self, const char *address)
{
    int64_t now = clock_mono_ms();
    time_box_t *told = map_get(self->salted, address);
    if (told != NULL && now - told->ms < SALT_AGAIN_MS)
        return true;
    if (map_len(self->salted) >= LIMIT_SALT_ADDRESSES)
        map_clear(self->salted);
    told = xcalloc(1, sizeof(*told));
    told->ms = now;
    map_set(self->salted, address, told);
    return false;
}

/* A handshake failure that was reported just before belongs to this connection. */
void
gate_disconnected(front_t *front, port_t port, int fd)
{
    gate_t *self = gate_own(front);
    door_line_t *line = gate_line(self, fd);
    bool mismatched = self->mismatched & 1u << port;
    self->mismatched &= (uint8_t) ~(1u << port);
    if (line == NULL || !(line->ports & 1u << port))
        return;
    if (mismatched) {
        /* A peer without CURVE, such as a Salt minion. libzmq reports the failed handshake without its
         * connection and that connection's end next, as a context has one I/O thread. */
        AUTO_FREE char *address = tcp_peer_text(&line->from);
        if (told_lately(gate_own(front), address))
            front->counters.refused++;
        else
            refused_tell(
                front, REFUSED_SALT, address,
                "a Salt minion, or another program that speaks ZeroMQ without encryption, knocks here: "
                "this is a Halite master. Install Halite's salt-minion there, or let its option master "
                "name a Salt master");
    }
    line->ports &= (uint8_t) ~(1u << port);
    self->open--;
    self->went++;
    if (line->ports == 0) {
        unlist(self, fd);
        self->cut -= line->stage == STAGE_CUT;
    }
    if (gate_wanted(self) != self->door)
        set_door(front);
}

void
gate_all_disconnected(front_t *front)
{
    gate_t *self = gate_own(front);
    for (int fd = 0; fd < self->n_lines; fd++)
        for (port_t port = PORT_REQUEST; port <= PORT_PUBLISH; port++)
            if (self->lines[fd].ports & 1u << port)
                gate_disconnected(front, port, fd);
}

bool
gate_is_open(const front_t *front, port_t port, int fd)
{
    const gate_t *self = gate_own(front);
    return fd >= 0 && fd < self->n_lines && (self->lines[fd].ports & 1u << port);
}

void
gate_received(front_t *front, int fd, size_t bytes)
{
    gate_t *self = gate_own(front);
    if (fd < 0 || fd >= self->n_lines)
        return;
    self->lines[fd].taken += sock_wire_bytes(bytes);
    if (self->lines[fd].stage == STAGE_SILENT)
        gate_move(self, fd, STAGE_SPOKEN);
}

void
gate_accepted(front_t *front, int fd)
{
    gate_move(gate_own(front), fd, STAGE_ACCEPTED);
}

void
gate_unaccepted(front_t *front, int fd)
{
    gate_move(gate_own(front), fd, STAGE_SPOKEN);
}

void
gate_cut(front_t *front, int fd)
{
    if (fd >= 0)
        gate_own_cut(gate_own(front), fd);
}

void
gate_cut_strangers(front_t *front, port_t port)
{
    gate_t *self = gate_own(front);
    for (int stage = 0; stage < STRANGERS; stage++)
        for (int fd = self->strangers[stage].first, next; fd >= 0; fd = next) {
            next = self->lines[fd].next;
            if (self->lines[fd].ports & 1u << port)
                gate_own_cut(self, fd);
        }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Resident bytes of the process, from /proc/self/statm; 0: unknown. */
static long
resident(const gate_t *self)
{
    char text[128];
    ssize_t n = self->statm >= 0 ? pread(self->statm, text, sizeof(text) - 1, 0) : -1;
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *second = strchr(text, ' ');
    return second != NULL ? strtol(second, NULL, 10) * self->page : 0;
}

/* A token bucket per minion for messages larger than a file chunk. */
bool
gate_within_rate(const peer_t *peer, size_t bytes)
{
    minion_t *m = peer->minion;
    if (m == NULL || bytes <= LIMIT_FILE_CHUNK + 1024)
        return true;
    int64_t now = clock_mono_ms(), gained = (now - m->large_ms) * (LIMIT_LARGE_RATE / 1000);
    m->large_left = m->large_ms == 0 || gained > LIMIT_LARGE_BURST - m->large_left ? LIMIT_LARGE_BURST
                                                                                   : m->large_left + gained;
    m->large_ms = now;
    if (m->large_left < (int64_t) bytes)
        return false;
    m->large_left -= (int64_t) bytes;
    return true;
}

void
gate_sent(front_t *front, int fd, size_t bytes)
{
    gate_t *self = gate_own(front);
    if (fd >= 0 && fd < self->n_lines)
        self->lines[fd].said += sock_wire_bytes(bytes);
}

int
gate_send(front_t *front, const peer_t *peer, const void *data, size_t len)
{
    int rc = sock_send_to(front->router, peer->rid, peer->rid_len, data, len);
    if (rc == 0)
        gate_sent(front, peer->fd, len);
    return rc;
}

/* Bytes received on a connection and not looked at; *ret_unread: bytes sent and not read by the peer. */
static uint64_t
gate_waiting(gate_t *self, int fd, uint64_t *ret_unread)
{
    door_line_t *line = &self->lines[fd];
    tcp_counts_t counts;
    bool known = tcp_counts(fd, &counts);
    *ret_unread = known ? tcp_unread(&counts, SMALL_BYTES, &line->said) : 0;
    return counts.received > line->taken ? counts.received - line->taken : 0;
}

/* Cut strangers that send more than a handshake and a hello need; the share shrinks with their number. */
static void
watch_strangers(front_t *front)
{
    gate_t *self = gate_own(front);
    long n = self->strangers[STAGE_SILENT].n + self->strangers[STAGE_SPOKEN].n;
    uint64_t most = LIMIT_STRANGERS_BYTES / (uint64_t) (n > 0 ? n : 1);
    most = most > LIMIT_STRANGER_BYTES   ? LIMIT_STRANGER_BYTES
           : most < LIMIT_STRANGER_LEAST ? LIMIT_STRANGER_LEAST
                                         : most;
    for (int stage = 0; stage < STRANGERS; stage++)
        for (int fd = self->strangers[stage].first, next; fd >= 0; fd = next) {
            next = self->lines[fd].next;
            uint64_t unread, waiting = gate_waiting(self, fd, &unread);
            if (waiting <= most)
                continue;
            AUTO_FREE char *from = tcp_address(fd);
            refused_tell(front, CUT_STRANGER, from,
                         "a connection whose key is not accepted sent %llu bytes: it is cut",
                         (unsigned long long) waiting);
            gate_own_cut(self, fd);
        }
}

/* Cut accepted minions whose connections together hold more than the bound, in either direction. */
static void
watch_minions(front_t *front)
{
    gate_t *self = gate_own(front);
    peer_t *peer;
    for (size_t i = 0; peers_next(front->peers, &i, &peer);)
        if (peer->minion != NULL)
            peer->minion->waiting = peer->minion->unread = 0;
    for (size_t i = 0; peers_next(front->peers, &i, &peer);) {
        uint64_t unread = 0;
        if (peer->minion == NULL || !gate_is_open(front, PORT_REQUEST, peer->fd))
            continue;
        peer->minion->waiting += gate_waiting(self, peer->fd, &unread);
        peer->minion->unread += unread;
    }
    for (size_t i = 0; peers_next(front->peers, &i, &peer);) {
        minion_t *m = peer->minion;
        bool sends = m != NULL && m->waiting > LIMIT_PEER_WAITING,
             deaf = m != NULL && m->unread > LIMIT_PEER_UNREAD;
        if (!(sends || deaf) || !gate_is_open(front, PORT_REQUEST, peer->fd))
            continue;
        refused_tell(front, CUT_MINION, peer->address, "minion %s: %llu bytes %s: its connection is cut",
                     m->id, (unsigned long long) (sends ? m->waiting : m->unread),
                     sends ? "of it wait" : "wait for it to read");
        gate_own_cut(self, peer->fd);
    }
}

/* Check only when the process has grown by GROWN_BYTES, as asking the kernel about each connection is
 * costly. */
static void
gate_watch(front_t *front)
{
    gate_t *self = gate_own(front);
    long now = resident(self);
    if (now < self->calm || self->calm == 0)
        self->calm = now;
    if (now - self->calm < GROWN_BYTES)
        return;
    self->calm = now;
    watch_strangers(front);
    watch_minions(front);
}

/* Pings are not counted as looked at: while little waits, count the remainder as taken. */
static void
gate_settle(front_t *front)
{
    gate_t *self = gate_own(front);
    peer_t *peer;
    for (size_t i = 0; peers_next(front->peers, &i, &peer);) {
        uint64_t unread, waiting;
        if (peer->minion == NULL || !gate_is_open(front, PORT_REQUEST, peer->fd))
            continue;
        waiting = gate_waiting(self, peer->fd, &unread);
        if (waiting < SMALL_BYTES)
            self->lines[peer->fd].taken += waiting;
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

void
gate_tick(front_t *front, int64_t now_ms)
{
    gate_t *self = gate_own(front);
    gate_watch(front);
    gate_tell(front, now_ms);
    if (now_ms < self->check_next_ms)
        return;
    self->check_next_ms = now_ms + CHECK_MS;
    if (now_ms >= self->settle_next_ms) {
        self->settle_next_ms = now_ms + SETTLE_MS;
        gate_settle(front);
    }
    /* libzmq touches a part of each block of a closed connection's memory; later connections touch other
     * parts, until all blocks ever used are resident. Trim returns them. */
    if (self->went >= WENT_MANY) {
        self->went = 0;
        (void) malloc_trim(0);
    }
    int fd;
    while ((fd = self->strangers[STAGE_SILENT].first) >= 0 &&
           now_ms - self->lines[fd].since_ms >= GATE_SILENT_MS)
        gate_own_cut(self, fd);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Derive the limits from the number of descriptors; at most a quarter is reserved. */
static int
gate_start(front_t *front, fail_t *err)
{
    gate_t *self = gate_own(front);
    long files = front->max_files, share = files / RESERVE_SHARE;
    long reserve = share < RESERVE_MIN ? RESERVE_MIN : share > RESERVE_MAX ? RESERVE_MAX : share;
    if (reserve > files / 4)
        reserve = files / 4;
    self->limit = files - reserve;
    self->reserve = reserve;
    for (int i = 0; i < STRANGERS; i++)
        self->strangers[i].first = self->strangers[i].last = -1;
    self->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    self->tells = (rate_t) RATE(LIMIT_GATE_EVENTS_RATE, LIMIT_GATE_EVENTS_BURST);
    self->page = sysconf(_SC_PAGESIZE);
    self->salted = map_new(free);
    return 0;
}

static bool
gate_destroy(front_t *front)
{
    gate_t *self = gate_own(front);
    if (self->statm >= 0)
        (void) close(self->statm);
    free(self->lines);
    map_destroy(&self->salted);
    return true;
}

const front_part_t part_gate = {
    .name = "gate", .size = sizeof(gate_t), .start = gate_start, .destroy = gate_destroy
};
