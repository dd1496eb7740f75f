// The floor of the server's rows: libmicrohttpd alone, with the threads and flags of the library's server, answering
// bytes that are there already.
//
//   floor-server [--field NAME VALUE]... FILE...
//
// Each file is answered with the fields, so that the answer has the head of the server's besides its bytes.
//
//   GET /N       the bytes of the Nth file: from memory up to 1 MiB, by its descriptor above; what follows the number
//                in the path is read as any path is, and left out of account
//   GET /stream  an open response, suspended until there is a message
//   GET /waits   how many of those are suspended
//   GET /tell    resumes all of them, each with one message of 1,500 bytes, and says how many there were
//
// A message is a server-sent event `change`, whose data are an object with its number, from 1, as `after`.
//
// It prints its port, and ends when its standard input does.

#include <stdio.h>

#ifdef GALLERY

#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct content {
  // The response that is sent each time; null: one is made for each request.
  struct MHD_Response *made;
  size_t count;
  int descriptor;
};

struct stream {
  struct MHD_Connection *connection;
  int waits;
  int told;
  struct stream *next;
};

static struct content contents[16];
static int content_count;
static struct stream *streams;
static const char *fields[32][2];
static int field_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char message[1500];
static unsigned message_number;

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t count) {
  struct stream *stream = context;
  (void)position;
  pthread_mutex_lock(&lock);
  if (!stream->told) {
    stream->waits = 1;
    MHD_suspend_connection(stream->connection);
    pthread_mutex_unlock(&lock);
    return 0;
  }
  stream->told = 0;
  size_t size = sizeof message < count ? sizeof message : count;
  memcpy(buffer, message, size);
  pthread_mutex_unlock(&lock);
  return (ssize_t)size;
}

static int waiting(void) {
  int count = 0;
  pthread_mutex_lock(&lock);
  for (struct stream *stream = streams; stream; stream = stream->next) count += stream->waits;
  pthread_mutex_unlock(&lock);
  return count;
}

static void next_message(void) {
  static const char end[] = "\"}\n\n";
  memset(message, 'm', sizeof message);
  int size = snprintf(message, sizeof message, "event: change\ndata: {\"after\":\"%u\",\"rest\":\"", ++message_number);
  message[size] = 'm';
  memcpy(message + sizeof message - (sizeof end - 1), end, sizeof end - 1);
}

static int tell(void) {
  int count = 0;
  pthread_mutex_lock(&lock);
  next_message();
  for (struct stream *stream = streams; stream; stream = stream->next) {
    if (!stream->waits) continue;
    stream->waits = 0;
    stream->told = 1;
    MHD_resume_connection(stream->connection);
    count++;
  }
  pthread_mutex_unlock(&lock);
  return count;
}

static enum MHD_Result queue(struct MHD_Connection *connection, struct MHD_Response *response) {
  if (!response) return MHD_NO;
  enum MHD_Result result = MHD_queue_response(connection, 200, response);
  MHD_destroy_response(response);
  return result;
}

static int add_fields(struct MHD_Response *response) {
  if (!response) return 0;
  for (int i = 0; i < field_count; i++)
    if (MHD_add_response_header(response, fields[i][0], fields[i][1]) != MHD_YES) return 0;
  return 1;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_count, void **request) {
  (void)context, (void)method, (void)version, (void)upload, (void)upload_count;
  if (!*request) {
    *request = (void *)1;
    return MHD_YES;
  }
  if (!strcmp(url, "/stream")) {
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) return MHD_NO;
    stream->connection = connection;
    pthread_mutex_lock(&lock);
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&lock);
    return queue(connection, MHD_create_response_from_callback(UINT64_MAX, 4096, read_stream, stream, 0));
  }
  int is_telling = !strcmp(url, "/tell");
  if (is_telling || !strcmp(url, "/waits")) {
    char text[32];
    int size = snprintf(text, sizeof text, "%d\n", is_telling ? tell() : waiting());
    return queue(connection, MHD_create_response_from_buffer((size_t)size, text, MHD_RESPMEM_MUST_COPY));
  }
  int number = atoi(url + 1);
  if (number < 0 || number >= content_count) return MHD_NO;
  struct content *content = &contents[number];
  if (content->made) return MHD_queue_response(connection, 200, content->made);
  struct MHD_Response *response = MHD_create_response_from_fd64(content->count, dup(content->descriptor));
  return add_fields(response) ? queue(connection, response) : MHD_NO;
}

int main(int count, char **words) {
  struct rlimit limit;
  if (!getrlimit(RLIMIT_NOFILE, &limit)) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  int i = 1;
  for (; i + 2 < count && field_count < 32 && !strcmp(words[i], "--field"); i += 3) {
    fields[field_count][0] = words[i + 1];
    fields[field_count++][1] = words[i + 2];
  }
  for (; i < count && content_count < 16; i++) {
    struct content content = {0, 0, open(words[i], O_RDONLY | O_CLOEXEC)};
    struct stat status;
    if (content.descriptor < 0 || fstat(content.descriptor, &status)) return 1;
    content.count = (size_t)status.st_size;
    if (content.count <= 1 << 20 && content.count > 0) {
      char *bytes = malloc(content.count);
      if (!bytes || read(content.descriptor, bytes, content.count) != status.st_size) return 1;
      content.made = MHD_create_response_from_buffer(content.count, bytes, MHD_RESPMEM_MUST_FREE);
      if (!add_fields(content.made)) return 1;
    }
    contents[content_count++] = content;
  }
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, 0, 0, answer, 0,
      MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_CONNECTION_LIMIT, 12000u, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      (size_t)16384, MHD_OPTION_END);
  if (!daemon) return 1;
  printf("%u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush(stdout);
  while (getchar() != EOF) {
  }
  // Suspended connections cannot be closed; the process takes them with it.
  _exit(0);
}

#else

int main(void) {
  fputs("The floor of the server is built with the trait Gallery.\n", stderr);
  return 2;
}

#endif
