#ifndef CMICROHTTPD_H
#define CMICROHTTPD_H

// libmicrohttpd, and fixed-argument faces of its functions that C declares variadic and Swift cannot call; the TLS of
// its connections; and accept4 and what the kernel counts of a connection, which Swift's Glibc leaves out.

#include <dlfcn.h>
#include <linux/sockios.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>

/// What the server is started with. Strings may be null; sizes are in bytes, times in seconds.
struct chttp_options {
  unsigned int threads;
  unsigned int connections;
  unsigned int connections_of_one_address;
  unsigned int idle_seconds;
  size_t connection_memory;
  const char *certificate;
  const char *key;
  void *context;
  MHD_AccessHandlerCallback handler;
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connected;
  size_t (*unescape)(void *, struct MHD_Connection *, char *);
  void (*log)(void *, const char *, va_list);
};

static inline struct MHD_Daemon *chttp_start(const struct chttp_options *o) {
  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG |
                       MHD_USE_NO_LISTEN_SOCKET;
  struct MHD_OptionItem items[15];
  int n = 0;
#define CHTTP_ITEM(name, number, pointer) \
  items[n++] = (struct MHD_OptionItem){(name), (intptr_t)(number), (void *)(pointer)}
  if (o->threads > 1) CHTTP_ITEM(MHD_OPTION_THREAD_POOL_SIZE, o->threads, 0);
  CHTTP_ITEM(MHD_OPTION_CONNECTION_LIMIT, o->connections, 0);
  if (o->connections_of_one_address) CHTTP_ITEM(MHD_OPTION_PER_IP_CONNECTION_LIMIT, o->connections_of_one_address, 0);
  CHTTP_ITEM(MHD_OPTION_CONNECTION_TIMEOUT, o->idle_seconds, 0);
  CHTTP_ITEM(MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->connection_memory, 0);
  CHTTP_ITEM(MHD_OPTION_STRICT_FOR_CLIENT, 1, 0);
  CHTTP_ITEM(MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)o->completed, o->context);
  CHTTP_ITEM(MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)o->connected, o->context);
  CHTTP_ITEM(MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)o->unescape, o->context);
  if (o->certificate) {
    flags |= MHD_USE_TLS;
    CHTTP_ITEM(MHD_OPTION_HTTPS_MEM_CERT, 0, o->certificate);
    CHTTP_ITEM(MHD_OPTION_HTTPS_MEM_KEY, 0, o->key);
  }
  items[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, 0};
#undef CHTTP_ITEM
  // The logger comes first, so that what the other options say reaches it.
  return MHD_start_daemon(
      flags, 0, 0, 0, o->handler, o->context, MHD_OPTION_EXTERNAL_LOGGER, o->log, o->context, MHD_OPTION_ARRAY, items,
      MHD_OPTION_END);
}

/// Has the calling thread, one of the daemon's, take the processor of no other one when it wakes.
///
/// On few cores, where a proxy or the tasks of the server run beside it, it then finds several requests each time
/// instead of one. Threads that it starts inherit that, and so do their threads; the share of the processor is that of
/// the usual policy. SCHED_RESET_ON_FORK resets policies of real time only. Programs that read files get the policy of
/// the process (psys_spawn_confined). Where a sandbox fails the call, all goes on as it was.
static inline void chttp_wake_behind_others(void) {
  enum { BATCH = 3 };  // SCHED_BATCH, which the header names to GNU sources only.
  static _Thread_local int was_asked;
  if (was_asked) return;
  was_asked = 1;
  struct sched_param priority = {0};
  if (sched_getscheduler(0) == SCHED_OTHER) sched_setscheduler(0, BATCH, &priority);
}

/// Has a response to HEAD whose size is not known end with its head, and the connection with it.
///
/// libmicrohttpd 0.9.75 ends such a response with the last chunk of a content, which a client takes for the beginning of
/// the next response: the answer to HEAD has no content (RFC 9110, 9.3.2). Without chunks there is nothing to be ended.
static inline void chttp_end_with_head(struct MHD_Response *response) {
  MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/// Accepts a connection whose socket does not block and is not passed on to child programs; -1 with errno.
static inline int chttp_accept(int listener, struct sockaddr *address, socklen_t *length) {
  extern int accept4(int, struct sockaddr *__restrict, socklen_t *__restrict, int);
  return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/// The address of the peer; null if it is unknown. Valid while the connection is.
static inline const struct sockaddr *chttp_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : 0;
}

/// The socket of a connection; -1 if it is unknown.
static inline int chttp_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

/// Sends bytes in as many records as it takes. What sends a record is `gnutls_record_send`, as <gnutls/gnutls.h> has
/// it, where the session is a pointer to a structure of its own.
///
/// Returns 1 if everything was sent; -1 if sending failed, which includes that the socket takes no more for now.
static inline int chttp_send_records(
    ssize_t (*send_record)(void *session, const void *bytes, size_t size), void *session, const void *bytes,
    size_t size) {
  // A record may hold less, as the client has asked for.
  for (size_t sent = 0; sent < size;) {
    ssize_t count = send_record(session, (const char *)bytes + sent, size - sent);
    if (count <= 0) return -1;
    sent += (size_t)count;
  }
  return 1;
}

/// Sends bytes over the TLS of a connection which nothing else reads or writes, as one that is suspended.
///
/// GnuTLS is libmicrohttpd's, which has loaded it; its function is looked up, so that no headers of it are needed to
/// build. Returns 1 if everything was sent; 0 if nothing was, since the connection has no session or the function is
/// not found; -1 if sending failed. A part may have been sent then, or wait in the session for a repetition of the
/// call, so the connection can only be closed.
static inline int chttp_send_encrypted(struct MHD_Connection *connection, const void *bytes, size_t size) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  void *session = info ? info->tls_session : 0;
  // Null is RTLD_DEFAULT, which the header names to GNU sources only.
  ssize_t (*send_record)(void *, const void *, size_t) =
      (ssize_t(*)(void *, const void *, size_t))dlsym(0, "gnutls_record_send");
  if (!session || !send_record) return 0;
  return chttp_send_records(send_record, session, bytes, size);
}

/// Whether a connection was accepted, as opposed to closed.
static inline int chttp_is_start(enum MHD_ConnectionNotificationCode code) {
  return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// How many bytes the peer of a TCP connection has acknowledged since it was opened, and how many wait in the kernel for
/// that. Returns 0 where the kernel does not say.
static inline int chttp_sent(int descriptor, uint64_t *acknowledged, uint64_t *waiting) {
  // `tcp_info` as the kernel has it, which only grows at its end; the C library's ends before `tcpi_bytes_acked`.
  enum { TCP_INFO_OPTION = 11, BYTES_ACKED = 120 };
  unsigned char info[BYTES_ACKED + sizeof *acknowledged];
  socklen_t length = sizeof info;
  int queued = 0;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO_OPTION, info, &length) != 0 || length < sizeof info) return 0;
  if (ioctl(descriptor, SIOCOUTQ, &queued) != 0 || queued < 0) return 0;
  memcpy(acknowledged, info + BYTES_ACKED, sizeof *acknowledged);
  *waiting = (uint64_t)queued;
  return 1;
}

/// Whether a line of a head is continued by a line that begins with a blank (RFC 9112, 5.2), as seen from its name and
/// value, which lie where they were received.
///
/// libmicrohttpd before 1.0 appends such a line to the name. It moves the name for that, away from its value; or, at
/// the end of its buffer, it writes over the blanks before the value, and the line still follows the value. Later
/// versions put blanks in the place of the fold, as they may, so that nothing of it is seen here.
///
/// Behind the last line of a head whose lines end with bare line feeds, its body is taken for a further line: such a
/// request is rejected if its body begins with blanks. No client is known that sends such heads.
static inline int chttp_is_folded(const char *name, size_t name_size, const char *value, size_t value_size) {
  if (!value) return 0;
  if (value <= name + name_size) return 1;
  const char *next = value + value_size;
  for (int ends = 0; ends < 2 && *next == 0; ends++) next++;
  if (*next != ' ' && *next != '\t') return 0;
  // A name stays in its place only if the rest of its line and the next one have 16 bytes. More than those may be read:
  // the list of the fields follows in the same memory.
  const char *limit = next + 16;
  while (next < limit && (*next == ' ' || *next == '\t')) next++;
  size_t size = 0;
  while (next + size < limit && next[size] != 0) size++;
  // What follows a line that is not continued is not part of its name: blanks that were cut off, or an older head.
  for (size_t start = 0; start + size <= name_size; start++)
    if (memcmp(name + start, next, size) == 0) return 1;
  return 0;
}

/// What `connected` keeps for a connection; null if there is nothing.
static inline void *chttp_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : 0;
}

#endif
