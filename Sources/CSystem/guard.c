#include "CSystem.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// What the handler says; written before it is installed, and never afterwards.
static char guarded_sentence[9216];

static const struct {
  int number;
  const char *name;
} faults[] = {
    {SIGBUS, "SIGBUS"}, {SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"},
    {SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"}, {SIGFPE, "SIGFPE"},
};
static const size_t fault_count = sizeof faults / sizeof faults[0];

// Calls nothing that is not async-signal-safe (signal-safety(7)).
static void say(const char *text) {
  size_t rest = strlen(text);
  while (rest > 0) {
    ssize_t count = write(STDERR_FILENO, text, rest);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text += count;
    rest -= (size_t)count;
  }
}

// The thread that says it; the others, whose faults may come at the same moment, wait for its end.
static atomic_long speaker;

static void end_by_fault(int number) {
  long nobody = 0, self = syscall(SYS_gettid);
  if (!atomic_compare_exchange_strong(&speaker, &nobody, self)) {
    if (nobody == self) _exit(1);
    for (;;) pause();
  }
  say(guarded_sentence);
  for (size_t i = 0; i < fault_count; i++) {
    if (faults[i].number == number) say(faults[i].name);
  }
  say(").\n");
  _exit(1);
}

void psys_end_by_faults(void) {
  for (size_t i = 0; i < fault_count; i++) signal(faults[i].number, SIG_DFL);
}

void psys_end_faults_with(const char *sentence) {
  strncpy(guarded_sentence, sentence, sizeof guarded_sentence - 1);
  for (size_t i = 0; i < fault_count; i++) {
    struct sigaction own;
    memset(&own, 0, sizeof own);
    own.sa_handler = end_by_fault;
    own.sa_flags = SA_NODEFER;
    sigaction(faults[i].number, &own, NULL);
  }
}
