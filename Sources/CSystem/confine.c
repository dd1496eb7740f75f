#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Landlock (landlock(7)). The numbers stand here since the header of Debian 12 ends at the second version.

#define NR_LANDLOCK_CREATE 444
#define NR_LANDLOCK_ADD 445
#define NR_LANDLOCK_RESTRICT 446
#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_MAKE_CHAR (1ull << 6)
#define FS_MAKE_SOCK (1ull << 9)
#define FS_MAKE_FIFO (1ull << 10)
#define FS_MAKE_BLOCK (1ull << 11)
#define FS_TRUNCATE (1ull << 14)
#define FS_IOCTL_DEV (1ull << 15)
#define NET_TCP 3ull
#define SCOPE_ALL 3ull

struct ruleset {
  uint64_t fs, net, scoped;
};

struct beneath {
  uint64_t access;
  int32_t parent;
} __attribute__((packed));

int psys_landlock_version(void) {
  long version = syscall(NR_LANDLOCK_CREATE, NULL, 0, 1u);
  return version < 0 ? 0 : (int)version;
}

static uint64_t handled_access(int version) {
  int bits = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
  return (1ull << bits) - 1;
}

// A path that does not exist needs no rule: what is not allowed is denied.
static int allow(int rules, const char *const *paths, uint64_t wanted) {
  for (; paths && *paths; paths++) {
    uint64_t access = wanted;
    int path = open(*paths, O_PATH | O_CLOEXEC);
    if (path < 0) continue;
    struct stat status;
    int code = fstat(path, &status) == 0 ? 0 : errno;
    if (code == 0 && !S_ISDIR(status.st_mode)) {
      access &= FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE;
    }
    struct beneath rule = {.access = access, .parent = path};
    if (code == 0 && syscall(NR_LANDLOCK_ADD, rules, 1, &rule, 0u) != 0) code = errno;
    close(path);
    if (code) return code;
  }
  return 0;
}

static int make_ruleset(const psys_confinement *confinement, int *rules) {
  int version = psys_landlock_version();
  if (version == 0) return ENOSYS;
  uint64_t all = handled_access(version);
  struct ruleset attributes = {
      .fs = all, .net = version >= 4 ? NET_TCP : 0, .scoped = version >= 6 ? SCOPE_ALL : 0};
  size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  *rules = (int)syscall(NR_LANDLOCK_CREATE, &attributes, size, 0u);
  if (*rules < 0) return errno;
  static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", NULL};
  uint64_t reading = FS_READ_FILE | FS_READ_DIR;
  uint64_t strange = FS_EXECUTE | FS_MAKE_CHAR | FS_MAKE_BLOCK | FS_MAKE_SOCK | FS_MAKE_FIFO | FS_IOCTL_DEV;
  int code = allow(*rules, confinement->programs, reading | FS_EXECUTE);
  if (code == 0) code = allow(*rules, confinement->readable, reading);
  if (code == 0) code = allow(*rules, confinement->writable, all & ~strange);
  if (code == 0) code = allow(*rules, devices, FS_READ_FILE | FS_WRITE_FILE);
  return code;
}

// The filter of system calls (seccomp(2)): no socket is made, no process, no signal, no mount, and no call that looks
// into another process. It sees no names of files: /proc/PID/mem of this user's other programs is closed by bubblewrap,
// by Landlock, and by Yama where its ptrace_scope is not 0. What Landlock does not restrict in the files that it lets
// be opened or named is denied here: modes, owners, times, extended attributes and flags, and in its first versions the
// length. A file is emptied through a descriptor that was opened for writing, and in no other way.

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define FAIL(code) RETURN(SECCOMP_RET_ERRNO | (code))
#define DENY_AS(number, code) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), FAIL(code)
#define DENY_VALUE(number) DENY_AS(number, EPERM)
#define DENY(name) DENY_VALUE(SYS_##name)
#define ABSENT(name) DENY_AS(SYS_##name, ENOSYS)
// Truncation needs a descriptor for writing, by the flags of open(2); the mode 3 stands for neither direction.
#define OPENING(name, flags)                                  \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 8),      \
      LOAD(args[flags]),                                      \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TRUNC, 1, 0),    \
      RETURN(SECCOMP_RET_ALLOW),                              \
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_ACCMODE),         \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_WRONLY, 1, 0),    \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_RDWR, 0, 1),      \
      RETURN(SECCOMP_RET_ALLOW), FAIL(EACCES)
#define THREAD_FLAG 0x00010000  // CLONE_THREAD

// Numbers that the headers of Debian 12 lack; they are equal on both architectures.
#define NR_FCHMODAT2 452
#define NR_SETXATTRAT 463
#define NR_REMOVEXATTRAT 466
#define NR_FILE_SETATTR 469

// Requests of ioctl(2) that type into the terminal from which we were started, have the kernel send signals, or change
// the flags of a file that is open for reading.
#define TERMINAL_INPUT 0x5412         // TIOCSTI
#define TERMINAL_LINUX 0x541C         // TIOCLINUX
#define SIGNAL_OWNER 0x8901           // FIOSETOWN
#define SIGNAL_GROUP 0x8902           // SIOCSPGRP
#define FILE_FLAGS 0x40086602         // FS_IOC_SETFLAGS
#define FILE_FLAGS_SHORT 0x40046602   // FS_IOC32_SETFLAGS
#define FILE_ATTRIBUTES 0x401C5820    // FS_IOC_FSSETXATTR

#ifdef ARCHITECTURE
static const struct sock_filter filter[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
#ifdef __x86_64__
    // The calls of the x32 form have numbers of their own.
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
    FAIL(ENOSYS),
    DENY(fork),
    DENY(vfork),
    DENY(iopl),
    DENY(ioperm),
    DENY(modify_ldt),
    DENY(chmod),
    DENY(chown),
    DENY(lchown),
    DENY(utime),
    DENY(utimes),
    DENY(futimesat),
    DENY(mknod),
    OPENING(open, 1),
#endif
    // Sockets, and the ways around this filter to make them.
    DENY(socket), DENY(socketpair), DENY(connect), DENY(bind), DENY(listen), DENY(accept), DENY(accept4),
    DENY(sendmsg), DENY(recvmsg), DENY(sendmmsg), DENY(recvmmsg),
    DENY(io_uring_setup), DENY(io_uring_enter), DENY(io_uring_register),
    // Files by their names, or without a descriptor for writing.
    DENY(truncate), DENY(fchmod), DENY(fchmodat), DENY_VALUE(NR_FCHMODAT2), DENY(fchown), DENY(fchownat),
    DENY(utimensat), DENY(setxattr), DENY(lsetxattr), DENY(fsetxattr), DENY_VALUE(NR_SETXATTRAT), DENY(removexattr),
    DENY(lremovexattr), DENY(fremovexattr), DENY_VALUE(NR_REMOVEXATTRAT), DENY_VALUE(NR_FILE_SETATTR),
    OPENING(openat, 2),
    // Its flags lie in memory, where a filter cannot read them; callers fall back to openat.
    ABSENT(openat2),
    // Other processes.
    DENY(ptrace), DENY(kill), DENY(process_vm_readv), DENY(process_vm_writev), DENY(kcmp), DENY(pidfd_open),
    DENY(pidfd_send_signal), DENY(pidfd_getfd), DENY(tkill), DENY(tgkill), DENY(rt_sigqueueinfo),
    DENY(rt_tgsigqueueinfo), DENY(setsid), DENY(setpgid), DENY(migrate_pages), DENY(move_pages), DENY(setpriority),
    DENY(ioprio_set), DENY(sched_setaffinity), DENY(shmget), DENY(shmat), DENY(semget), DENY(msgget), DENY(mq_open),
    // Of the own threads as well: programs go on when they are refused a priority.
    DENY(sched_setscheduler), DENY(sched_setparam), DENY(sched_setattr),
    // The kernel.
    DENY(bpf), DENY(perf_event_open), DENY(userfaultfd), DENY(keyctl), DENY(add_key), DENY(request_key), DENY(mount),
    DENY(umount2), DENY(pivot_root), DENY(chroot), DENY(unshare), DENY(setns), DENY(open_tree), DENY(move_mount),
    DENY(fsopen), DENY(fsconfig), DENY(fsmount), DENY(fspick), DENY(mount_setattr),
    DENY(open_by_handle_at), DENY(name_to_handle_at), DENY(init_module), DENY(finit_module), DENY(delete_module),
    DENY(kexec_load), DENY(reboot), DENY(swapon), DENY(swapoff), DENY(sethostname), DENY(setdomainname),
    DENY(settimeofday), DENY(clock_settime), DENY(adjtimex), DENY(clock_adjtime), DENY(acct), DENY(quotactl),
    DENY(syslog), DENY(personality), DENY(fanotify_init), DENY(vhangup), DENY(mknodat), DENY(memfd_create),
    // The C library falls back to the older call, whose flags can be read.
    ABSENT(clone3),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
    LOAD(args[0]),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, THREAD_FLAG, 1, 0),
    FAIL(EPERM),
    RETURN(SECCOMP_RET_ALLOW),
    // Limits for the own process only.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 4),
    LOAD(args[0]),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
    FAIL(EPERM),
    RETURN(SECCOMP_RET_ALLOW),
    // The process or group that the kernel signals for a descriptor, and leases, for which other opens wait.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 10),
    LOAD(args[1]),
    DENY_VALUE(F_SETOWN), DENY_VALUE(F_SETSIG), DENY_VALUE(F_SETOWN_EX), DENY_VALUE(F_SETLEASE),
    RETURN(SECCOMP_RET_ALLOW),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 15),
    LOAD(args[1]),
    DENY_VALUE(TERMINAL_INPUT), DENY_VALUE(TERMINAL_LINUX), DENY_VALUE(SIGNAL_OWNER), DENY_VALUE(SIGNAL_GROUP),
    DENY_VALUE(FILE_FLAGS), DENY_VALUE(FILE_FLAGS_SHORT), DENY_VALUE(FILE_ATTRIBUTES),
    RETURN(SECCOMP_RET_ALLOW),
};
#define FILTER_COUNT (sizeof filter / sizeof filter[0])
#else
static const struct sock_filter *const filter = NULL;
#define FILTER_COUNT 0
#endif

const void *psys_call_filter(size_t *bytes) {
  *bytes = FILTER_COUNT * sizeof(struct sock_filter);
  return filter;
}

// Between fork and exec: system calls only, since the memory is the parent's (vfork).

struct child_plan {
  const char *executable;
  char *const *arguments;
  char *const *environment;
  const int *descriptors;
  int count;
  int rules;
  const psys_confinement *confinement;
  int policy;  // of the process's first thread
};

// The thread that starts a program may be one that takes the processor of no other one when it wakes. Where the calls
// are not allowed, the program runs as that thread does.
static void set_priority(const struct child_plan *plan) {
  struct sched_param usual = {0};
  if (plan->policy == SCHED_OTHER && sched_getscheduler(0) == SCHED_BATCH)
    (void)sched_setscheduler(0, SCHED_OTHER, &usual);
  int niceness = plan->confinement->niceness;
  if (niceness > 0) (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + niceness);
}

static int set_limits(const psys_confinement *confinement) {
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
  struct rlimit memory = {(rlim_t)confinement->memory, (rlim_t)confinement->memory};
  if (confinement->memory > 0 && setrlimit(RLIMIT_AS, &memory) != 0) return errno;
  struct rlimit file = {(rlim_t)confinement->file_size, (rlim_t)confinement->file_size};
  if (confinement->file_size > 0 && setrlimit(RLIMIT_FSIZE, &file) != 0) return errno;
  return 0;
}

// Of root's powers only the one to read and write what others own is left; for others there is nothing to drop.
static int drop_powers(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
  if (syscall(SYS_capget, &header, data) != 0) return errno;
  uint32_t kept = (1u << CAP_DAC_OVERRIDE) | (1u << CAP_DAC_READ_SEARCH);
  for (int word = 0; word < 2; word++) {
    data[word].permitted &= word == 0 ? kept : 0;
    data[word].effective &= data[word].permitted;
    data[word].inheritable = 0;
  }
  return syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

static int become_confined(const struct child_plan *plan) {
  int layers = plan->confinement->layers;
  if (layers == 0) return 0;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  int code = drop_powers();
  if (code) return code;
  if ((layers & PSYS_LANDLOCK) && syscall(NR_LANDLOCK_RESTRICT, plan->rules, 0u) != 0) return errno;
  return 0;
}

// The most descriptors that are closed one by one. The limit may be a billion; a new descriptor gets the lowest number
// that is free, so none of ours is as high as this.
#define MOST_DESCRIPTORS (1 << 20)

static int close_from(int first) {
  if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) return 0;
  // Before Linux 5.9, or in a container whose filter does not know the call. /proc cannot be read under Landlock.
  if (errno != ENOSYS && errno != EPERM) return errno;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return errno;
  // The hard limit: a soft one that was lowered leaves descriptors above it open.
  int end = limit.rlim_max < MOST_DESCRIPTORS ? (int)limit.rlim_max : MOST_DESCRIPTORS;
  for (int number = first; number < end; number++) (void)close(number);
  return 0;
}

static int take_descriptors(const struct child_plan *plan) {
  for (int target = 0; target < plan->count; target++) {
    int source = plan->descriptors[target];
    if (source < target) return EINVAL;
    if (source == target) {
      if (fcntl(target, F_SETFD, 0) != 0) return errno;
    } else if (dup2(source, target) < 0) {
      return errno;
    }
  }
  return close_from(plan->count);
}

static void reset_signals(void) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) (void)sigaction(number, &usual, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static int run_child(const struct child_plan *plan) {
  if (setpgid(0, plan->confinement->group) != 0) return errno;
  set_priority(plan);
  int code = set_limits(plan->confinement);
  if (code == 0) code = become_confined(plan);
  if (code == 0) code = take_descriptors(plan);
  if (code) return code;
  reset_signals();
  if (plan->confinement->layers & PSYS_FILTER) {
    struct sock_fprog program = {.len = FILTER_COUNT, .filter = (struct sock_filter *)filter};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0u, &program) != 0) return errno;
  }
  execve(plan->executable, plan->arguments, plan->environment);
  return errno;
}

static __attribute__((noinline)) pid_t start_child(const struct child_plan *plan, volatile int *failure) {
  pid_t child = vfork();
  if (child != 0) return child;
  *failure = run_child(plan);
  _exit(127);
}

int psys_spawn_confined(
    int *child, const char *executable, char *const arguments[], char *const environment[], const int *descriptors,
    int count, const psys_confinement *confinement) {
  int policy = sched_getscheduler(getpid());
  struct child_plan plan = {executable, arguments, environment, descriptors, count, -1, confinement, policy};
  *child = 0;
  if ((confinement->layers & PSYS_FILTER) && FILTER_COUNT == 0) return ENOSYS;
  int code = confinement->layers & PSYS_LANDLOCK ? make_ruleset(confinement, &plan.rules) : 0;
  volatile int failure = 0;
  pid_t identifier = -1;
  if (code == 0) {
    // No handler of ours may run in the child while it has our memory.
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    identifier = start_child(&plan, &failure);
    if (identifier < 0) code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  if (plan.rules >= 0) close(plan.rules);
  if (code) return code;
  if (failure) {
    int status;
    while (waitpid(identifier, &status, 0) < 0 && errno == EINTR) {
    }
    return failure;
  }
  *child = identifier;
  return 0;
}
