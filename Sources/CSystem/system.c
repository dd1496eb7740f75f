#include "CSystem.h"

#include <errno.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
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

void psys_begin_writing_out(int descriptor) {
  // 2 is SYNC_FILE_RANGE_WRITE. What cannot be begun early is written by the sync that waits for it.
  (void)syscall(SYS_sync_file_range, descriptor, 0L, 0L, 2u);
}

static atomic_uint generation;

static void count_fork(void) { atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed); }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

unsigned psys_fork_generation(void) { return atomic_load_explicit(&generation, memory_order_relaxed); }

uint64_t psys_thread_id(void) { return (uint64_t)pthread_self(); }
