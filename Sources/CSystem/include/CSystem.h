#ifndef CSYSTEM_H
#define CSYSTEM_H

// The few Linux headers that Swift's Glibc module does not carry, fixed-argument faces of calls that C declares
// variadic (Swift cannot import those), and SHA-256. No feature macro is defined here: the headers shared with the
// Glibc module must look the same in both.

#if !defined(__linux__)
#error "PhotoLedger needs Linux: it uses epoll, eventfd, renameat2 and the C library's robust mutexes."
#endif

#include <stddef.h>
#include <stdint.h>

#if !defined(__GLIBC__)
#error "PhotoLedger needs the GNU C library; others, such as musl, have not been tried."
#endif

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Makes `destination` share the blocks of `source` (ioctl FICLONE). Returns 0, or the errno of the failure:
/// EOPNOTSUPP, EXDEV, EINVAL and ENOTTY mean that the file system cannot, and that a copy is in order.
int psys_clone_file(int destination, int source);

/// renameat2 with RENAME_NOREPLACE: gives a file a new name unless something has that name. Returns 0, or the errno:
/// EEXIST if something has it; EINVAL and ENOSYS mean that the file system or the kernel cannot tell.
int psys_rename_without_replacing(const char *from, const char *to);

/// syncfs: makes everything durable that was written to the file system of an open file. Returns 0 or an errno.
int psys_sync_file_system(int descriptor);

/// fallocate with FALLOC_FL_KEEP_SIZE: takes room for the first bytes of a file, whose size stays. Returns 0, or the
/// errno: EOPNOTSUPP means that the file system cannot take room before it is written to.
int psys_reserve(int descriptor, int64_t bytes);

/// sync_file_range: lets the kernel begin to write a file out, and does not wait: a hint, so that a later sync finds
/// less to do.
void psys_begin_writing_out(int descriptor);

/// Asks the processor to load the cache line at a place, which is read soon; never fails, whatever the place is.
static inline void psys_fetch_ahead(const void *place) { __builtin_prefetch(place); }

/// getdents64: reads entries of an open folder as the kernel has them (struct linux_dirent64). Returns how many bytes
/// of the buffer are filled, 0 at the end, or the negative errno.
long psys_read_entries(int folder, void *buffer, size_t bytes);

/// How many forks lie between the process that loaded this code and the running one. A handle that remembers the
/// number at its birth knows, for the price of one load, that it is being used in a child. `getpid` would be a
/// system call each time.
unsigned psys_fork_generation(void);

/// The name that the program was started by, without its folders (program_invocation_short_name(3)). Swift cannot read
/// the variable itself: a global that can be set is not safe in its concurrency.
const char *psys_program_name(void);

/// The calling thread, as a number that no other living thread of this process has.
uint64_t psys_thread_id(void);

/// Starts a thread, which ends with `body(context)` and is waited for by no other. `name` is cut to 15 bytes; with a
/// `stack_bytes` of 0 the stack is as large as usual. Returns 0, or the errno: EAGAIN if the system allows no further
/// thread, or has no room for the stack.
int psys_start_thread(const char *name, size_t stack_bytes, void (*body)(void *context), void *context);

/// A SHA-256 computation under way (FIPS 180-4). A plain value: copying it forks the computation.
typedef struct {
  uint32_t state[8];
  uint64_t length;     // bytes taken in so far
  uint8_t buffer[64];  // the last length % 64 bytes
  int portable;        // keep to the portable path, whatever the processor offers
} psys_sha256;

void psys_sha256_init(psys_sha256 *context);
/// As psys_sha256_init, but never uses the processor's SHA instructions: the reference in tests.
void psys_sha256_init_portable(psys_sha256 *context);
void psys_sha256_update(psys_sha256 *context, const void *bytes, size_t count);
/// Writes 32 bytes to `digest` and leaves `context` unusable until its next init.
void psys_sha256_final(psys_sha256 *context, uint8_t *digest);
void psys_sha256_digest(const void *bytes, size_t count, uint8_t *digest);
/// The digest of three pieces after one another, each of which may be empty.
void psys_sha256_pieces(
    const void *first, size_t first_count, const void *second, size_t second_count, const void *third,
    size_t third_count, uint8_t *digest);
/// 1 when the processor's SHA instructions are used.
int psys_sha256_is_accelerated(void);

/// A SHA-1 computation; for names that other programs know, not for proofs.
typedef struct {
  uint32_t state[5];
  uint64_t length;     // bytes taken in so far
  uint8_t buffer[64];  // the last length % 64 bytes
  int portable;        // keep to the portable path, whatever the processor offers
} psys_sha1;

void psys_sha1_init(psys_sha1 *context);
/// As psys_sha1_init, but never uses the processor's SHA instructions: the reference in tests.
void psys_sha1_init_portable(psys_sha1 *context);
void psys_sha1_update(psys_sha1 *context, const void *bytes, size_t count);
/// As psys_sha256_update and psys_sha1_update of the same bytes, in one pass (rounds.h).
void psys_both_update(psys_sha256 *sha256, psys_sha1 *sha1, const void *bytes, size_t count);
/// Writes 20 bytes to `digest` and leaves `context` unusable until its next init.
void psys_sha1_final(psys_sha1 *context, uint8_t *digest);

/// Starts `executable` (posix_spawn) with default signals, and descriptors[i] as its descriptor i; no other descriptor
/// of ours reaches it. No source may be below its target, or an earlier one would have taken its place (EINVAL).
/// `directory` may be null. With `leads_group` the child leads a process group of its own. Returns 0 or an errno.
int psys_spawn(
    int *child, const char *executable, char *const arguments[], char *const environment[], const char *directory,
    const int *descriptors, int count, int leads_group);

/// The layers of a confinement that the kernel enforces; 0 sets limits only.
enum { PSYS_LANDLOCK = 1, PSYS_FILTER = 2 };

/// What a program may do. The lists end with a null; paths that do not exist are passed over.
typedef struct {
  const char *const *programs;  // files and folders that may be read and executed
  const char *const *readable;  // that may be read
  const char *const *writable;  // that may be read and written
  int64_t memory;               // address space in bytes; 0: any
  int64_t file_size;            // the largest file that it may write, bytes; 0: any
  int layers;                   // PSYS_LANDLOCK, PSYS_FILTER
  int group;                    // the process group that it joins; 0: one of its own
  int niceness;                 // by how much its priority is lower than the thread's that starts it (setpriority(2))
} psys_confinement;

/// As psys_spawn, with limits and layers that hold from the program's first instruction. With any layer it cannot gain
/// privileges, and keeps of root's only the one to read and write what others own. Its scheduling policy is not that of
/// a thread with SCHED_BATCH, if that of the process's first thread is SCHED_OTHER. Returns 0 or an errno.
int psys_spawn_confined(
    int *child, const char *executable, char *const arguments[], char *const environment[], const int *descriptors,
    int count, const psys_confinement *confinement);

/// The version of Landlock that the kernel has (landlock(7)); 0: none.
int psys_landlock_version(void);

/// The filter of PSYS_FILTER as the bytes of a BPF program, for a program that sets it; no bytes where the processor's
/// calls are not known.
const void *psys_call_filter(size_t *bytes);

/// Finds the shared mapping of a file that holds `address` (proc_pid_maps(5)). Returns where it begins and sets its size
/// in bytes, a multiple of the page size; null if no file is mapped there, or if that cannot be read.
void *psys_shared_mapping(const void *address, ptrdiff_t *bytes);

/// Sets the capacity of a pipe to at least `size` bytes (fcntl(2), F_SETPIPE_SZ). Returns 0 or an errno: EBADF if the
/// descriptor is not a pipe, EPERM above the limit of the system.
int psys_set_pipe_size(int descriptor, int size);

/// Whether a signal is ignored (SIG_IGN of sigaction(2)), as nohup(1) and shells leave it to what they start.
int psys_ignores(int number);

/// How many bytes of files are mapped into this process and in memory (proc_pid_statm(5)); -1 if that is not known.
/// `own` becomes how many of its other pages are in memory: what it has allocated; 0 if that is not known.
int64_t psys_file_pages_resident(int64_t *own);

/// From now on, ends the process with exit status 1 when it faults (SIGBUS, SIGSEGV, SIGABRT, SIGILL, SIGTRAP, SIGFPE),
/// after writing `sentence` and the name of the signal to standard error. Takes the place of other handlers, such as the
/// Swift runtime's for backtraces, which ends the process by the signal.
void psys_end_faults_with(const char *sentence);

/// From now on, a fault ends the process by its signal, at once: the Swift runtime's handler for backtraces, which stops
/// all threads first, can wait for ever where LMDB's pages are damaged.
void psys_end_by_faults(void);

#ifdef __cplusplus
}
#endif

#endif
