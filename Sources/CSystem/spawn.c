#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>

static int set_actions(
    posix_spawn_file_actions_t *actions, const char *directory, const int *descriptors, int count) {
  int code = directory ? posix_spawn_file_actions_addchdir_np(actions, directory) : 0;
  for (int target = 0; code == 0 && target < count; target++) {
    int source = descriptors[target];
    code = source < target ? EINVAL : posix_spawn_file_actions_adddup2(actions, source, target);
  }
  return code ? code : posix_spawn_file_actions_addclosefrom_np(actions, count);
}

static int set_attributes(posix_spawnattr_t *attributes, int leads_group) {
  sigset_t signals;
  sigemptyset(&signals);
  int code = posix_spawnattr_setsigmask(attributes, &signals);
  sigfillset(&signals);
  if (code == 0) code = posix_spawnattr_setsigdefault(attributes, &signals);
  if (code == 0) code = posix_spawnattr_setpgroup(attributes, 0);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (leads_group) flags |= POSIX_SPAWN_SETPGROUP;
  return code ? code : posix_spawnattr_setflags(attributes, flags);
}

int psys_spawn(
    int *child, const char *executable, char *const arguments[], char *const environment[], const char *directory,
    const int *descriptors, int count, int leads_group) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  pid_t identifier = 0;
  int code = posix_spawn_file_actions_init(&actions);
  if (code) return code;
  code = posix_spawnattr_init(&attributes);
  if (code == 0) {
    code = set_actions(&actions, directory, descriptors, count);
    if (code == 0) code = set_attributes(&attributes, leads_group);
    if (code == 0) code = posix_spawn(&identifier, executable, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  *child = identifier;
  return code;
}
