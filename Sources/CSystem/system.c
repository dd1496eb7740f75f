// For F_SETPIPE_SZ and program_invocation_short_name.
#define _GNU_SOURCE

#include "CSystem.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <unistd.h>

int psys_clone_file(int destination, int source) {
  return ioctl(destination, FICLONE, source) == 0 ? 0 : errno;
}

int psys_rename_without_replacing(const char *from, const char *to) {
  // RENAME_NOREPLACE; the wrapper of the C library asks for a feature macro, which CSystem.h refuses.
  return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u) == 0 ? 0 : errno;
}

int psys_sync_file_system(int descriptor) { return syscall(SYS_syncfs, descriptor) == 0 ? 0 : errno; }

int psys_reserve(int descriptor, int64_t bytes) {
  // 1 is FALLOC_FL_KEEP_SIZE; the wrapper of the C library asks for a feature macro.
  return syscall(SYS_fallocate, descriptor, 1L, 0L, (long)bytes) == 0 ? 0 : errno;
}

void psys_begin_writing_out(int descriptor) {
  // 2 is SYNC_FILE_RANGE_WRITE. What cannot be begun early is written by the sync that waits for it.
  (void)syscall(SYS_sync_file_range, descriptor, 0L, 0L, 2u);
}

long psys_read_entries(int folder, void *buffer, size_t bytes) {
  long count = syscall(SYS_getdents64, folder, buffer, bytes);
  return count >= 0 ? count : -(long)errno;
}

static atomic_uint generation;

static void count_fork(void) { atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed); }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

unsigned psys_fork_generation(void) { return atomic_load_explicit(&generation, memory_order_relaxed); }

const char *psys_program_name(void) { return program_invocation_short_name; }

// What a thread begins with.
struct thread_start {
  char name[16];
  void (*body)(void *context);
  void *context;
};

static void *run_thread(void *argument) {
  struct thread_start start = *(struct thread_start *)argument;
  free(argument);
  // A name is for people who look at the process; the thread runs without one as well.
  (void)pthread_setname_np(pthread_self(), start.name);
  start.body(start.context);
  return NULL;
}

int psys_start_thread(const char *name, size_t stack_bytes, void (*body)(void *context), void *context) {
  struct thread_start *start = calloc(1, sizeof *start);
  if (start == NULL) return ENOMEM;
  strncpy(start->name, name, sizeof start->name - 1);
  start->body = body;
  start->context = context;
  pthread_attr_t attributes;
  int code = pthread_attr_init(&attributes);
  if (code == 0) {
    pthread_t thread;
    code = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (code == 0 && stack_bytes > 0) code = pthread_attr_setstacksize(&attributes, stack_bytes);
    if (code == 0) code = pthread_create(&thread, &attributes, run_thread, start);
    pthread_attr_destroy(&attributes);
  }
  if (code != 0) free(start);
  return code;
}

uint64_t psys_thread_id(void) { return (uint64_t)pthread_self(); }

void *psys_shared_mapping(const void *address, ptrdiff_t *bytes) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (maps == NULL) return NULL;
  void *found = NULL;
  // start-end, permissions, offset, device, inode, path.
  char line[512];
  int is_beginning = 1;
  while (found == NULL && fgets(line, sizeof line, maps) != NULL) {
    uintptr_t start, end;
    unsigned long inode;
    char permissions[8];
    if (is_beginning &&
        sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %lu", &start, &end, permissions, &inode) == 4 &&
        start <= (uintptr_t)address && (uintptr_t)address < end) {
      // What another process sees too: read again, it is the same. Private pages would be lost.
      if (inode == 0 || strlen(permissions) != 4 || permissions[3] != 's') break;
      found = (void *)start;
      *bytes = (ptrdiff_t)(end - start);
    }
    is_beginning = strchr(line, '\n') != NULL;
  }
  fclose(maps);
  return found;
}

int psys_set_pipe_size(int descriptor, int size) { return fcntl(descriptor, F_SETPIPE_SZ, size) < 0 ? errno : 0; }

int psys_ignores(int number) {
  struct sigaction current;
  return sigaction(number, NULL, &current) == 0 && current.sa_handler == SIG_IGN;
}

int64_t psys_file_pages_resident(int64_t *own) {
  *own = 0;
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  char text[256];
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  if (count <= 0) return -1;
  text[count] = 0;
  // proc_pid_statm(5), in pages: size, resident, shared: those of files and of shared memory.
  int64_t resident, shared;
  if (sscanf(text, "%*s %" SCNd64 " %" SCNd64, &resident, &shared) != 2) return -1;
  const int64_t page = sysconf(_SC_PAGESIZE);
  *own = (resident - shared) * page;
  return shared * page;
}
